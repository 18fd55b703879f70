/**
 * Keeps one wake stream open and says when something woke us. A wake is a hint: it may be lost, doubled or late, so whoever
 * listens also looks after each `onOpen`, and now and then. A relay without the route is left alone; polling goes on.
 */
import type { Readable } from 'node:stream'
import type { Clock } from '@agentmux/lease-model'
import { agentKey } from './agent-key.js'
import type { OpenStream } from './open-stream.js'
import { MISSING_ROUTE_MS } from './relay-timings.js'
import { SseEvents } from './sse-events.js'
import type { UnknownWhy } from './unknown-why.js'

export interface WakeStreamPorts {
  readonly open: OpenStream
  readonly clock: Clock
  readonly random: () => number
  /** How long the relay wants to be left alone. */
  readonly pausedForMs: () => number
  /** The stream is there: what was missed while it was not has to be looked for. */
  readonly onOpen: () => void
  /** There may be something for the agent, or for any if undefined. */
  readonly onWake: (agent: string | undefined) => void
}

/** A relay of ours sends a byte every 15 s. */
const SILENT_FOR_MS = 45_000
const FIRST_WAIT_MS = 2_000
const LONGEST_WAIT_MS = 60_000
const LEAST_WAIT_MS = 500

export class WakeStream {
  readonly #ports: WakeStreamPorts
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(ports: WakeStreamPorts) {
    this.#ports = ports
  }

  start(): void {
    this.#running ??= this.#run(this.#stopping.signal).catch(() => {})
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopped'))
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    let failures = 0
    while (!signal.aborted) {
      const opened = await this.#ports.open(signal)
      failures += 1
      if (opened.kind === 'open') {
        this.#ports.onOpen()
        if (await this.#listen(opened.body, signal)) failures = 0
      }
      await this.#ports.clock.sleep(
        this.#waitMs(opened.kind === 'unknown' ? opened.why : undefined, failures),
        signal
      )
    }
  }

  /** Spread, so that a relay that restarts is not stormed by everyone at once. */
  #waitMs(why: UnknownWhy | undefined, failures: number): number {
    const { random, pausedForMs } = this.#ports
    if (why === 'route-missing') return MISSING_ROUTE_MS
    if (why === 'no-token') return LONGEST_WAIT_MS
    const spread = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 6))
    return pausedForMs() + LEAST_WAIT_MS + random() * spread
  }

  /** Until the stream ends, breaks or falls silent. Whether it said anything. */
  async #listen(body: Readable, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#ports
    const end = () => body.destroy()
    let cancelTimer = clock.after(SILENT_FOR_MS, end)
    let said = false
    signal.addEventListener('abort', end, { once: true })
    try {
      const events = new SseEvents()
      for await (const piece of body as AsyncIterable<Uint8Array>) {
        cancelTimer()
        cancelTimer = clock.after(SILENT_FOR_MS, end)
        for (const { name, data } of events.push(piece)) {
          said = true
          if (name === 'wake') this.#ports.onWake(agentIn(data))
        }
      }
    } catch {
      // It broke, or talked nonsense: it is opened again.
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', end)
      body.destroy()
    }
    return said
  }
}

function agentIn(data: string): string | undefined {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'agent_id')) return undefined
    const agent: unknown = (value as { agent_id: unknown }).agent_id
    return typeof agent === 'string' ? agentKey(agent) : undefined
  } catch {
    return undefined
  }
}
