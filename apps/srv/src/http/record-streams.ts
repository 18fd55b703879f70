/**
 * Everyone who reads a record: one line of JSON per item, no faster than it is taken, so that the slowest reader costs one
 * chunk of memory. A reader that takes nothing for a while is dropped.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FollowedItem } from '../panes/follow-pane.js'
import type { HttpLimits } from './http-limits.js'
import type { HttpPorts } from './ports.js'
import { recordItemJson } from './record-item-json.js'
import type { StreamHeaders } from './stream-headers.js'

export const RECORD_TYPE = 'application/x-ndjson; charset=utf-8'

export type Items = (signal: AbortSignal) => AsyncIterable<FollowedItem>

export class RecordStreams {
  readonly #log: HttpPorts['log']
  readonly #limits: HttpLimits
  readonly #open = new Set<AbortController>()
  #closed = false

  constructor({ log, metrics }: Pick<HttpPorts, 'log' | 'metrics'>, limits: HttpLimits) {
    this.#log = log
    this.#limits = limits
    const text = { name: 'agentmux_record_streams', help: 'Readers of records now.' }
    metrics.gauge(text, () => this.#open.size)
  }

  /** No more readers are taken. */
  get full(): boolean {
    return this.#closed || this.#open.size >= this.#limits.streams
  }

  /** Resolves when the items have come to their end, the reader left or fell behind, or the server closes. Never throws. */
  async send(response: ServerResponse, headers: StreamHeaders, items: Items): Promise<void> {
    const controller = new AbortController()
    this.#open.add(controller)
    response.on('close', () => controller.abort())
    // The reader is gone: `close` follows.
    response.on('error', () => {})
    try {
      response.writeHead(200, { ...headers, 'content-type': RECORD_TYPE })
      response.flushHeaders()
      await this.#write(response, items(controller.signal), controller.signal)
      response.end()
    } catch (error) {
      // Cut short, so that what came does not pass for all there is.
      if (!controller.signal.aborted) this.#log.error({ err: error }, 'a record could not be read to its end')
      response.destroy()
    } finally {
      this.#open.delete(controller)
    }
  }

  /** Ends all streams, and takes no more. */
  close(): void {
    this.#closed = true
    for (const controller of this.#open) controller.abort()
  }

  async #write(
    response: ServerResponse,
    items: AsyncIterable<FollowedItem>,
    signal: AbortSignal
  ): Promise<void> {
    let corked = false
    for await (const item of items) {
      if (signal.aborted) return
      // What comes in one go leaves in one go.
      if (!corked) {
        corked = true
        response.cork()
        void nextTurn().then(() => {
          corked = false
          response.uncork()
        })
      }
      if (!response.write(`${JSON.stringify(recordItemJson(item))}\n`)) await this.#drained(response, signal)
    }
  }

  /** @throws when it takes too long, or the signal is aborted. */
  async #drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
    const bound = AbortSignal.any([signal, AbortSignal.timeout(this.#limits.stallTimeoutMs)])
    await once(response, 'drain', { signal: bound })
  }
}
