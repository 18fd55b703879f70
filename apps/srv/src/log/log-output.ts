/**
 * Where log lines go: a descriptor, written without ever making the process wait. A reader that is slow, stopped or gone
 * costs lines, never a renewal: what waits is bounded, and how many lines were dropped is said once there is room.
 */
import { write } from 'node:fs'

const MAX_WAITING_BYTES = 1024 * 1024
/** Somebody we share the descriptor with made it non-blocking, and it is full. */
const FULL_PAUSE_MS = 50

export interface LogOutputOptions {
  readonly descriptor: number
  /** Never shown, whatever a line holds (R16). */
  readonly secrets?: readonly string[]
}

export class LogOutput {
  readonly #descriptor: number
  readonly #secrets: readonly string[]
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #dropped = 0
  #writing = false
  #idle: (() => void)[] = []

  constructor({ descriptor, secrets = [] }: LogOutputOptions) {
    this.#descriptor = descriptor
    this.#secrets = secrets.filter((secret) => secret !== '').flatMap((secret) => [secret, inJson(secret)])
  }

  /** One line, with its newline. Never throws. */
  write(line: string): void {
    const bytes = Buffer.from(this.#withoutSecrets(line))
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES) {
      this.#dropped++
      return
    }
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    this.#pump()
  }

  /** Resolves once everything is written, at the latest after `boundMs`. */
  async flush(boundMs: number): Promise<void> {
    if (!this.#writing) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, boundMs)
      this.#idle.push(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }

  #withoutSecrets(line: string): string {
    let text = line
    for (const secret of this.#secrets) text = text.replaceAll(secret, '[redacted]')
    return text
  }

  #pump(): void {
    if (this.#writing) return
    if (this.#waiting.length === 0) {
      for (const idle of this.#idle.splice(0)) idle()
      return
    }
    this.#writing = true
    const bytes = Buffer.concat(this.#waiting)
    this.#waiting = []
    this.#put(bytes, 0)
  }

  #put(bytes: Buffer, from: number): void {
    write(this.#descriptor, bytes, from, bytes.length - from, null, (error, written) => {
      if (error?.code === 'EAGAIN') {
        setTimeout(() => this.#put(bytes, from), FULL_PAUSE_MS).unref()
        return
      }
      const done = from + (error ? bytes.length : written)
      if (done < bytes.length) return this.#put(bytes, done)
      this.#writing = false
      this.#waitingBytes -= bytes.length
      this.#tellDropped()
      this.#pump()
    })
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return
    const line = JSON.stringify({
      level: 'warn',
      time: Date.now(),
      lines: this.#dropped,
      msg: 'log lines were dropped'
    })
    this.#dropped = 0
    this.write(`${line}\n`)
  }
}

/** As it stands inside a JSON text. */
function inJson(secret: string): string {
  return JSON.stringify(secret).slice(1, -1)
}
