/**
 * Everyone who reads the event stream: each gets all panes at the start, then every change once, in order. A reader that
 * stops reading is dropped: what waits for it is bounded, and it gets everything again when it comes back. Nothing is
 * kept for readers that are away, so an id is only a count.
 */
import type { ServerResponse } from 'node:http'
import type { CancelTimer } from '@agentmux/lease-model'
import type { PaneEvent } from '../panes/pane-answers.js'
import type { HttpLimits } from './http-limits.js'
import { paneJson } from './pane-json.js'
import type { HttpPorts } from './ports.js'
import type { StreamHeaders } from './stream-headers.js'

interface Reader {
  readonly response: ServerResponse
  /** The beginning may be long, and is allowed to wait beside the rest. */
  beginningBytes: number
  /** Something waited at the last heartbeat, too. */
  behind: boolean
}

const RECONNECT_MS = 2_000

export class EventStreams {
  readonly #ports: Pick<HttpPorts, 'panes' | 'clock' | 'log'>
  readonly #limits: HttpLimits
  readonly #readers = new Set<Reader>()
  #lastId = 0
  #unsubscribe: (() => void) | undefined
  #cancelHeartbeat: CancelTimer | undefined
  #closed = false

  constructor(ports: Pick<HttpPorts, 'panes' | 'clock' | 'log' | 'metrics'>, limits: HttpLimits) {
    this.#ports = ports
    this.#limits = limits
    const text = { name: 'agentmux_event_streams', help: 'Readers of the event stream now.' }
    ports.metrics.gauge(text, () => this.#readers.size)
  }

  /** No more readers are taken. */
  get full(): boolean {
    return this.#closed || this.#readers.size >= this.#limits.streams
  }

  /** Begins an answer that goes on until the reader leaves, falls behind, or the server closes. */
  add(response: ServerResponse, headers: StreamHeaders): void {
    const beginning = this.#beginning()
    const reader = { response, beginningBytes: Buffer.byteLength(beginning), behind: false }
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream; charset=utf-8' })
    response.on('close', () => this.#remove(reader))
    // The reader is gone: `close` follows.
    response.on('error', () => {})
    response.on('drain', () => {
      reader.beginningBytes = 0
    })
    this.#readers.add(reader)
    this.#begin()
    response.write(beginning)
  }

  /** Ends all streams, those of readers that are behind without waiting for them, and takes no more. */
  close(): void {
    this.#closed = true
    for (const { response } of this.#readers) {
      if (response.writableLength > 0) response.destroy()
      else response.end()
    }
    this.#stop()
  }

  #beginning(): string {
    const agents = this.#ports.panes.list().map(paneJson)
    return `retry: ${RECONNECT_MS}\n\n${eventText(this.#lastId, 'snapshot', { agents })}`
  }

  #begin(): void {
    this.#unsubscribe ??= this.#ports.panes.subscribe((event) => this.#tell(event))
    this.#cancelHeartbeat ??= this.#ports.clock.after(this.#limits.heartbeatMs, () => this.#beat())
  }

  #stop(): void {
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
    this.#cancelHeartbeat?.()
    this.#cancelHeartbeat = undefined
  }

  #remove(reader: Reader): void {
    this.#readers.delete(reader)
    if (this.#readers.size === 0) this.#stop()
  }

  #tell({ kind, pane }: PaneEvent): void {
    const text = eventText(++this.#lastId, kind, { agent: paneJson(pane) })
    for (const reader of this.#readers) {
      const waitingBytes = reader.response.writableLength - reader.beginningBytes
      if (waitingBytes > this.#limits.streamBytes) this.#drop(reader)
      else reader.response.write(text)
    }
  }

  /** A sign of life, which also finds out who left without a word, and who takes nothing any more. */
  #beat(): void {
    this.#cancelHeartbeat = undefined
    for (const reader of this.#readers) {
      const waits = reader.response.writableLength > 0
      if (waits && reader.behind) this.#drop(reader)
      else reader.response.write(':\n\n')
      reader.behind = waits
    }
    if (this.#readers.size > 0) this.#begin()
  }

  #drop(reader: Reader): void {
    this.#ports.log.warn({ event: 'reader-dropped' }, 'a reader of the event stream fell behind')
    this.#readers.delete(reader)
    reader.response.destroy()
  }
}

function eventText(id: number, event: string, data: unknown): string {
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
