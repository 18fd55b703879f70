/**
 * Fetches the messages of every agent that is driven here: on a wake, on a timer behind it, at the start, and once the relay
 * has made us the holder. Looks for one agent at a time, at few agents at once, and less often where deliveries fail. A
 * message never takes an agent over (R5).
 */
import type { CancelTimer, Clock, Holder } from '@agentmux/lease-model'
import { agentKey } from './agent-key.js'
import { Inbox, type Look } from './inbox.js'
import type { RelayMessage } from './message-answers.js'
import { PULL_EVERY_MS } from './relay-timings.js'
import { severalAtOnce } from './several-at-once.js'
import { WakeStream } from './wake-stream.js'
import type { WanClient } from './wan-client.js'

export interface PendingMessagesPorts {
  readonly client: WanClient
  /** The agents with a live pane. */
  readonly liveAgents: () => Iterable<string>
  /** Whether one is among them, by the name that the relay keeps (`agentKey`). */
  readonly isLive: (agent: string) => boolean
  /**
   * Gives a message to the agent's pane as a turn, after verifying that the pane's lease still stands; false if that
   * failed. The message is ours by then: what this accepts is not delivered again.
   */
  readonly deliver: (agent: string, message: RelayMessage) => Promise<boolean>
  /** The relay says that another computer has the agent; the app fences it. */
  readonly onNotHolder: (agent: string, holder: Holder) => void
  /** What a port of the app threw, `deliver` aside: that is a failed delivery. */
  readonly onFault: (fault: unknown) => void
}

/** Agents looked for at the same time: renewals need connections too. */
const AT_ONCE = 4
/** After a failed delivery the agent is left alone this long at first, and twice as long each further time. */
const FAILED_WAIT_MS = 5_000

interface Agent {
  readonly inbox: Inbox
  wanted: boolean
  looking: boolean
  failures: number
  notBeforeMs: number
}

export class PendingMessages {
  readonly #ports: PendingMessagesPorts
  readonly #clock: Clock
  readonly #wake: WakeStream
  readonly #agents = new Map<string, Agent>()
  readonly #queue: string[] = []
  readonly #looking = new Set<Promise<void>>()
  readonly #timers = new Set<CancelTimer>()
  #stopListening: () => void = () => {}
  #started = false
  #stopped = false

  constructor(ports: PendingMessagesPorts) {
    this.#ports = ports
    const { client } = ports
    this.#clock = client.clock
    this.#wake = new WakeStream({
      open: client.streamOpener(),
      clock: client.clock,
      random: client.random,
      pausedForMs: () => client.pausedForMs(),
      onOpen: () => this.look(),
      onWake: (agent) => this.look(agent)
    })
  }

  start(): void {
    if (this.#started || this.#stopped) return
    this.#started = true
    this.#stopListening = this.#ports.client.leases.onNewlyHeld((agent) => this.look(agent))
    this.#wake.start()
    this.look()
    this.#every()
  }

  /** Looks for the agent's messages, or for everyone's, soon. One that is being looked for is looked for once more. */
  look(agent?: string): void {
    if (this.#stopped) return
    const live = this.#liveKeys()
    for (const [key, { inbox, looking }] of this.#agents) {
      if (!live.has(key) && !inbox.unsettled && !looking) this.#agents.delete(key)
    }
    const keys =
      agent === undefined ? [...new Set([...live, ...this.#agents.keys()])] : [agentKey(agent) ?? '']
    for (const key of keys) {
      // A wake may name any agent of the account.
      if (live.has(key) || this.#agents.has(key)) this.#want(key)
    }
    this.#next()
  }

  /** Resolves once nothing is being looked for. */
  async idle(): Promise<void> {
    while (this.#looking.size > 0) await Promise.all(this.#looking)
  }

  /** Begins nothing more, lets what is under way end, and gives back what was claimed and not delivered. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopListening()
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    this.#queue.length = 0
    await Promise.all([this.#wake.stop(), this.idle()])
    const open = [...this.#agents.values()].filter(({ inbox }) => inbox.unsettled)
    await severalAtOnce(open, AT_ONCE, async ({ inbox }) => ((await inbox.abandon()) ? undefined : 'stop'))
    this.#agents.clear()
  }

  #every(): void {
    this.#after(PULL_EVERY_MS * (0.9 + 0.1 * this.#ports.client.random()), () => {
      this.look()
      this.#every()
    })
  }

  #want(key: string): void {
    const agent = this.#agentOf(key)
    if (agent.wanted) return
    agent.wanted = true
    if (!agent.looking) this.#enqueue(key, agent)
  }

  #enqueue(key: string, agent: Agent): void {
    const waitMs = agent.notBeforeMs - this.#clock.bootMs()
    if (waitMs <= 0) {
      this.#queue.push(key)
      return
    }
    this.#after(waitMs, () => {
      this.#queue.push(key)
      this.#next()
    })
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
    if (look !== 'failed') {
      if (look === 'done') agent.failures = 0
      return
    }
    agent.notBeforeMs =
      this.#clock.bootMs() + Math.min(PULL_EVERY_MS, FAILED_WAIT_MS * 2 ** Math.min(agent.failures, 10))
    agent.failures += 1
    agent.wanted = true
  }

  #agentOf(key: string): Agent {
    const known = this.#agents.get(key)
    if (known !== undefined) return known
    const { client, isLive, deliver, onNotHolder } = this.#ports
    const inbox = new Inbox({
      agent: key,
      messages: client.messages,
      clock: this.#clock,
      isWanted: () => !this.#stopped && isLive(key) && client.leases.heldElsewhere(key) === undefined,
      deliver: (message) => deliver(key, message),
      onNotHolder: (holder) => onNotHolder(key, holder)
    })
    const agent = { inbox, wanted: false, looking: false, failures: 0, notBeforeMs: 0 }
    this.#agents.set(key, agent)
    return agent
  }

  #liveKeys(): Set<string> {
    const keys = new Set<string>()
    for (const agent of this.#ports.liveAgents()) {
      const key = agentKey(agent)
      if (key !== undefined) keys.add(key)
    }
    return keys
  }

  #after(delayMs: number, callback: () => void): void {
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      callback()
    })
    this.#timers.add(cancel)
  }
}
