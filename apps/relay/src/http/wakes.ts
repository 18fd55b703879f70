/**
 * Everyone who waits to be told that a queue got something. A wake is a hint: it names an agent and carries nothing of the
 * message, may be lost, and whoever reconnects pulls anyway. A reader that stops reading is dropped, and one whose token
 * opens nothing any more at the next sign of life.
 */
import type { ServerResponse } from 'node:http'
import type { CancelTimer } from '@agentmux/lease-model'
import type { AgentKey } from '../model/agent-key.js'
import type { Token } from '../model/token.js'
import { mayUse } from './caller.js'
import type { HttpLimits } from './http-limits.js'
import type { HttpPorts } from './http-ports.js'

export interface Reader {
  readonly response: ServerResponse
  readonly token: Token
  /** Of its secret. */
  readonly hash: string
}

/** Clients that honour it come back after about this long; see also the spread of Retry-After. */
const RECONNECT_MS = 2_000

export class Wakes {
  readonly #ports: Pick<HttpPorts, 'clock' | 'store'>
  readonly #limits: HttpLimits
  readonly #byAccount = new Map<string, Set<Reader>>()
  readonly #perToken = new Map<string, number>()
  readonly #unsubscribe: () => void
  #size = 0
  #cancelBeat: CancelTimer | undefined
  #closed = false

  constructor(ports: Pick<HttpPorts, 'clock' | 'store' | 'metrics'>, limits: HttpLimits) {
    this.#ports = ports
    this.#limits = limits
    ports.metrics.gauge(
      { name: 'agentmux_relay_wake_streams', help: 'Readers of the wake stream now.' },
      () => this.#size
    )
    this.#unsubscribe = ports.store.messages.onArrival((key) => this.#tell(key))
  }

  isFull({ id }: Token): boolean {
    if (this.#closed || this.#size >= this.#limits.streams) return true
    return (this.#perToken.get(id) ?? 0) >= this.#limits.streamsPerToken
  }

  /** Begins an answer that goes on until the reader leaves, falls behind, or the relay closes. */
  add(reader: Reader, headers: Readonly<Record<string, string>>): void {
    const { response, token } = reader
    const readers = this.#byAccount.get(token.account) ?? new Set()
    this.#byAccount.set(token.account, readers.add(reader))
    this.#perToken.set(token.id, (this.#perToken.get(token.id) ?? 0) + 1)
    this.#size++
    response.on('close', () => this.#remove(reader))
    // The reader is gone: `close` follows.
    response.on('error', () => {})
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    response.write(`retry: ${RECONNECT_MS}\n\nevent: ready\ndata: {}\n\n`)
    this.#cancelBeat ??= this.#ports.clock.after(this.#limits.heartbeatMs, () => this.#beat())
  }

  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#cancelBeat?.()
    for (const { response } of this.#readers()) {
      if (response.writableLength > 0) response.destroy()
      else response.end()
    }
  }

  #tell({ account, agent }: AgentKey): void {
    const text = `event: wake\ndata: ${JSON.stringify({ agent_id: agent })}\n\n`
    for (const { response, token } of this.#byAccount.get(account) ?? []) {
      if (!mayUse(token, agent)) continue
      if (response.writableLength > this.#limits.streamBytes) response.destroy()
      else response.write(text)
    }
  }

  /** A sign of life, which also finds out who left without a word. */
  #beat(): void {
    this.#cancelBeat = undefined
    for (const reader of this.#readers()) {
      const { response } = reader
      if (response.writableLength > 0) response.destroy()
      else response.write(':\n\n')
      void this.#endIfRevoked(reader)
    }
    if (this.#size > 0 && !this.#closed)
      this.#cancelBeat = this.#ports.clock.after(this.#limits.heartbeatMs, () => this.#beat())
  }

  async #endIfRevoked({ response, hash }: Reader): Promise<void> {
    try {
      const token = await this.#ports.store.tokens.find(hash)
      if (token === undefined) response.end()
    } catch {
      // Not known just now: asked again at the next beat.
    }
  }

  *#readers(): Generator<Reader> {
    for (const readers of [...this.#byAccount.values()]) yield* [...readers]
  }

  #remove(reader: Reader): void {
    const { account, id } = reader.token
    const readers = this.#byAccount.get(account)
    if (!readers?.delete(reader)) return
    this.#size--
    if (readers.size === 0) this.#byAccount.delete(account)
    const left = (this.#perToken.get(id) ?? 1) - 1
    if (left === 0) this.#perToken.delete(id)
    else this.#perToken.set(id, left)
  }
}
