/**
 * For whom messages are to be looked for: one look for an agent at a time, looks for few agents at once, and less often where
 * deliveries fail. An agent that is wanted while it is being looked for is looked for once more.
 */
import type { Clock } from '@agentmux/lease-model'
import type { Inbox, Look } from './inbox.js'
import { PULL_EVERY_MS } from './relay-timings.js'
import { severalAtOnce } from './several-at-once.js'

export interface LookSchedulePorts {
  readonly clock: Clock
  readonly inbox: (agent: string) => Inbox
  readonly onFault: (fault: unknown) => void
}

/** Agents looked for at the same time: renewals need connections too. */
const AT_ONCE = 4
/** After a failed delivery the agent is left alone this long at first, and twice as long each further time without a delivery. */
const FAILED_WAIT_MS = 5_000

interface Agent {
  readonly inbox: Inbox
  wanted: boolean
  looking: boolean
  failures: number
  notBeforeMs: number
}

export class LookSchedule {
  readonly #ports: LookSchedulePorts
  readonly #agents = new Map<string, Agent>()
  readonly #queue: string[] = []
  readonly #looking = new Set<Promise<void>>()
  readonly #timers = new Set<() => void>()
  #stopped = false

  constructor(ports: LookSchedulePorts) {
    this.#ports = ports
  }

  /** Those that were looked for and not forgotten. */
  get known(): ReadonlyMap<string, unknown> {
    return this.#agents
  }

  want(key: string): void {
    const agent = this.#agentOf(key)
    if (this.#stopped || agent.wanted) return
    agent.wanted = true
    if (!agent.looking) this.#enqueue(key, agent)
    this.#next()
  }

  /** All but these, and those that still have something of the relay's. */
  forgetAllBut(live: ReadonlySet<string>): void {
    for (const [key, { inbox, looking }] of this.#agents) {
      if (!live.has(key) && !inbox.unsettled && !looking) this.#agents.delete(key)
    }
  }

  /** Resolves once nothing is being looked for. */
  async idle(): Promise<void> {
    while (this.#looking.size > 0) await Promise.all(this.#looking)
  }

  /** No look begins after this. */
  stop(): void {
    this.#stopped = true
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#queue.length = 0
  }

  /** At the end: gives back what was claimed and not delivered. */
  async abandonAll(): Promise<void> {
    const open = [...this.#agents.values()].filter(({ inbox }) => inbox.unsettled)
    await severalAtOnce(open, AT_ONCE, async ({ inbox }) => ((await inbox.abandon()) ? undefined : 'stop'))
    this.#agents.clear()
  }

  #enqueue(key: string, agent: Agent): void {
    const { clock } = this.#ports
    const waitMs = agent.notBeforeMs - clock.bootMs()
    if (waitMs <= 0) {
      this.#queue.push(key)
      return
    }
    const cancel = clock.after(waitMs, () => {
      this.#timers.delete(cancel)
      this.#queue.push(key)
      this.#next()
    })
    this.#timers.add(cancel)
  }

  #next(): void {
    while (!this.#stopped && this.#looking.size < AT_ONCE) {
      const key = this.#queue.shift()
      const agent = key === undefined ? undefined : this.#agents.get(key)
      if (key === undefined) return
      if (agent === undefined || agent.looking || !agent.wanted) continue
      const look = this.#lookFor(key, agent).finally(() => {
        this.#looking.delete(look)
        this.#next()
      })
      this.#looking.add(look)
    }
  }

  async #lookFor(key: string, agent: Agent): Promise<void> {
    agent.wanted = false
    agent.looking = true
    try {
      this.#judge(await agent.inbox.look(), agent)
    } catch (fault) {
      this.#ports.onFault(fault)
    } finally {
      agent.looking = false
    }
    if (this.#stopped || !agent.wanted) return
    this.#enqueue(key, agent)
  }

  #judge(look: Look, agent: Agent): void {
    // Who takes one message after the other, and not all at once, is not kept waiting longer and longer.
    if (look === 'done' || look === 'failed-later') agent.failures = 0
    if (look !== 'failed' && look !== 'failed-later') return
    const waitMs = Math.min(PULL_EVERY_MS, FAILED_WAIT_MS * 2 ** Math.min(agent.failures, 10))
    agent.notBeforeMs = this.#ports.clock.bootMs() + waitMs
    agent.failures += 1
    agent.wanted = true
  }

  #agentOf(key: string): Agent {
    const known = this.#agents.get(key)
    if (known !== undefined) return known
    const inbox = this.#ports.inbox(key)
    const agent = { inbox, wanted: false, looking: false, failures: 0, notBeforeMs: 0 }
    this.#agents.set(key, agent)
    return agent
  }
}
