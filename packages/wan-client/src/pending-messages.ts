/**
 * Fetches the messages of every agent that is driven here: on a wake, on a timer behind it, at the start, and once the relay
 * has made us the holder. A message never takes an agent over (R5).
 */
import type { CancelTimer, Clock, Holder } from '@agentmux/lease-model'
import { agentKey } from './agent-key.js'
import { Inbox } from './inbox.js'
import { LookSchedule } from './look-schedule.js'
import type { RelayMessage } from './message-answers.js'
import { PULL_EVERY_MS } from './relay-timings.js'
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

export class PendingMessages {
  readonly #ports: PendingMessagesPorts
  readonly #clock: Clock
  readonly #wake: WakeStream
  readonly #looks: LookSchedule
  #cancelTimer: CancelTimer = () => {}
  #stopListening: () => void = () => {}
  #started = false
  #stopped = false

  constructor(ports: PendingMessagesPorts) {
    this.#ports = ports
    const { client, onFault } = ports
    this.#clock = client.clock
    this.#looks = new LookSchedule({ clock: client.clock, inbox: (key) => this.#inboxOf(key), onFault })
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
    this.#looks.forgetAllBut(live)
    const { known } = this.#looks
    const keys = agent === undefined ? [...new Set([...live, ...known.keys()])] : [agentKey(agent) ?? '']
    for (const key of keys) {
      // A wake may name any agent of the account.
      if (live.has(key) || known.has(key)) this.#looks.want(key)
    }
  }

  /** Resolves once nothing is being looked for. */
  idle(): Promise<void> {
    return this.#looks.idle()
  }

  /** Begins nothing more, lets what is under way end, and gives back what was claimed and not delivered. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stopListening()
    this.#cancelTimer()
    this.#looks.stop()
    await Promise.all([this.#wake.stop(), this.idle()])
    await this.#looks.abandonAll()
  }

  #every(): void {
    const everyMs = PULL_EVERY_MS * (0.9 + 0.1 * this.#ports.client.random())
    this.#cancelTimer = this.#clock.after(everyMs, () => {
      this.look()
      this.#every()
    })
  }

  #inboxOf(key: string): Inbox {
    const { client, isLive, deliver, onNotHolder } = this.#ports
    return new Inbox({
      agent: key,
      messages: client.messages,
      clock: this.#clock,
      isWanted: () => !this.#stopped && isLive(key) && client.leases.heldElsewhere(key) === undefined,
      deliver: (message) => deliver(key, message),
      onNotHolder: (holder) => onNotHolder(key, holder)
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
