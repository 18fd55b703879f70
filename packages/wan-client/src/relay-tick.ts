/**
 * Every 20 s: renews everything held in one request, claims what is driven here and not held, and lets go of what no pane
 * drives any more. "Held elsewhere" is told to the app, which fences; nothing else that the relay does, or fails to do,
 * reaches anything local (R7).
 */
import type { CancelTimer, Clock, Holder } from '@agentmux/lease-model'
import { agentKey } from './agent-key.js'
import { RENEW_EVERY_MS } from './relay-timings.js'
import { severalAtOnce } from './several-at-once.js'
import { concernsAll } from './unknown-why.js'
import type { WanClient } from './wan-client.js'

export interface RelayTickPorts {
  readonly client: WanClient
  /** The agents with a live pane, or one that is being started: all that may be held at the relay. Names in any form. */
  readonly liveAgents: () => Iterable<string>
  /** Another computer has the agent, by the name as the relay keeps it. May come again until the agent is live no more. */
  readonly onHeldElsewhere: (agent: string, holder: Holder) => void
  /** What a port of the app threw. The next tick comes all the same. */
  readonly onFault: (fault: unknown) => void
  /** For a relay whose leases live for another time than the protocol's; by default RENEW_EVERY_MS. */
  readonly everyMs?: number | undefined
}

/** Single requests at the same time, so that messages find a free connection. */
const AT_ONCE = 4

export class RelayTick {
  readonly #ports: RelayTickPorts
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #stopping = new AbortController()
  #cancelTimer: CancelTimer = () => {}
  #running: Promise<void> | undefined

  constructor(ports: RelayTickPorts) {
    this.#ports = ports
    this.#clock = ports.client.clock
    this.#everyMs = ports.everyMs ?? RENEW_EVERY_MS
  }

  /** The first tick comes anywhere within one interval: computers that start together do not stay together. */
  start(): void {
    this.#arm(this.#ports.client.random() * this.#everyMs)
  }

  /** No tick begins after this, and the one under way ends. Nothing is let go: `releaseAll` does. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('stopped'))
    this.#cancelTimer()
    await this.#running
  }

  /** One tick now, or the one that is under way. Resolves when it is over; never rejects. */
  run(): Promise<void> {
    if (this.#stopping.signal.aborted) return Promise.resolve()
    this.#running ??= this.#tick(this.#stopping.signal).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Resolves once no tick is under way. */
  async idle(): Promise<void> {
    await this.#running
  }

  /** At the end of the app: lets go of everything, a few at a time; gives up with the signal, and on a silent relay. */
  async releaseAll(signal?: AbortSignal): Promise<void> {
    await this.#release(this.#ports.client.leases.unreleased(), signal)
  }

  #arm(delayMs: number): void {
    this.#cancelTimer()
    if (this.#stopping.signal.aborted) return
    const { client } = this.#ports
    this.#cancelTimer = this.#clock.after(delayMs, () => {
      const beganMs = this.#clock.bootMs()
      void this.run().finally(() => {
        const pausedMs = client.pausedForMs()
        const dueMs = Math.max(0, beganMs + this.#everyMs - this.#clock.bootMs())
        this.#arm(pausedMs > dueMs ? pausedMs + client.random() * (this.#everyMs / 4) : dueMs)
      })
    })
  }

  async #tick(signal: AbortSignal): Promise<void> {
    const { leases } = this.#ports.client
    try {
      const live = this.#liveKeys()
      // First what cannot wait: a lease lapses if its renewal comes late.
      const renewed = await leases.renewHeldBatch({ agents: live, signal })
      for (const { agent, holder } of renewed.elsewhere) this.#ports.onHeldElsewhere(agent, holder)
      await this.#release(
        leases.unreleased().filter((key) => !live.has(key)),
        signal
      )
      if (renewed.unanswered.some(({ why }) => concernsAll(why))) return
      const told = new Set(renewed.elsewhere.map(({ agent }) => agent))
      await severalAtOnce(
        [...live].filter((key) => !leases.isHeld(key) && !told.has(key)),
        AT_ONCE,
        (key) => this.#claim(key, signal)
      )
    } catch (fault) {
      if (!signal.aborted) this.#ports.onFault(fault)
    }
  }

  async #claim(agent: string, signal: AbortSignal): Promise<'stop' | undefined> {
    const answer = await this.#ports.client.leases.ensure(agent, { signal })
    if (answer.kind === 'held-elsewhere') this.#ports.onHeldElsewhere(agent, answer.holder)
    return answer.kind === 'unknown' && concernsAll(answer.why) ? 'stop' : undefined
  }

  async #release(keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    await severalAtOnce(keys, AT_ONCE, async (key) => {
      const answer = await this.#ports.client.leases.release(key, { signal })
      return answer.kind === 'unknown' && concernsAll(answer.why) ? 'stop' : undefined
    })
  }

  #liveKeys(): Set<string> {
    const keys = new Set<string>()
    for (const agent of this.#ports.liveAgents()) {
      const key = agentKey(agent)
      if (key !== undefined) keys.add(key)
    }
    return keys
  }
}
