/**
 * The process that drives a pane's agent: in a session and group of its own, with pipes to us. Keeps true that its end is
 * reported once, and that nothing is sent to its pid or group after that.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { PaneExit } from './pane-answers.js'
import type { PaneCommand } from './pane-command.js'

export class PaneChild {
  /** 0 if it could not be started. */
  readonly pid: number
  /** Resolves with why it could not be started; with undefined once it runs. */
  readonly failure: Promise<NodeJS.ErrnoException | undefined>
  /** Resolves once, when it has exited, or could not be started. */
  readonly exited: Promise<PaneExit>
  readonly #child: ChildProcess | undefined
  #running: boolean

  /** Spawns, synchronously; a failure is no exception but `failure`. */
  constructor(command: PaneCommand, environment: Readonly<Record<string, string | undefined>>) {
    const child = spawnQuietly(command, environment)
    this.#child = child instanceof Error ? undefined : child
    this.pid = this.#child?.pid ?? 0
    this.#running = this.pid !== 0
    this.failure = failureOf(child)
    this.exited = new Promise((resolve) => {
      if (child instanceof Error || this.pid === 0) return resolve({ code: null, signal: null })
      child.once('exit', (code, signal) => {
        this.#running = false
        resolve({ code, signal })
      })
    })
    // A child that does not read its input any more is no fault of ours.
    this.#child?.stdin?.on('error', () => {})
  }

  get running(): boolean {
    return this.#running
  }

  get stdout(): Readable | undefined {
    return this.#child?.stdout ?? undefined
  }

  get stderr(): Readable | undefined {
    return this.#child?.stderr ?? undefined
  }

  /** Whether what is written now could still reach it. */
  get takesInput(): boolean {
    return this.#running && this.#child?.stdin?.writable === true
  }

  /** Whether it has yet to read what was written before. */
  get isBehind(): boolean {
    return this.#child?.stdin?.writableNeedDrain === true
  }

  write(text: string): void {
    this.#child?.stdin?.write(text)
  }

  endInput(): void {
    this.#child?.stdin?.end()
  }

  /** What it has not read by now it never will. */
  cutInput(): void {
    this.#child?.stdin?.destroy()
  }

  /** Without a grace, with its group. For our own exit; otherwise its lease ends it. */
  kill(): void {
    // Its group is its own: it was started as the leader of one. While it is not reaped, the number is its.
    if (!this.#running) return
    try {
      process.kill(-this.pid, 'SIGKILL')
    } catch {
      // Gone, or not ours to kill.
    }
  }
}

/** Some failures are thrown (too many arguments), others come as an event: both are answers here. */
function spawnQuietly(
  { path, name, args, cwd }: PaneCommand,
  environment: Readonly<Record<string, string | undefined>>
): ChildProcess | Error {
  try {
    return spawn(path, args, { argv0: name, cwd, env: environment, stdio: 'pipe', detached: true })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function failureOf(child: ChildProcess | Error): Promise<NodeJS.ErrnoException | undefined> {
  if (child instanceof Error) return Promise.resolve(child)
  return new Promise((resolve) => {
    child.once('spawn', () => resolve(undefined))
    // Later ones are of a signal that could not be sent.
    child.on('error', resolve)
  })
}
