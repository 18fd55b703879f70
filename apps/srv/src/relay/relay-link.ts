/**
 * The relay of one daemon: what its panes drive is held there too, in one request every 20 s; an agent that another computer
 * has is refused before a start and given up while it runs; messages that wait there become turns. Keeps true that silence
 * of the relay stops nothing (R7), and that no message opens, takes or moves an agent (R5).
 */
import type { HostAdmission } from '@agentmux/host-admission'
import type { AgentRef, Clock, Holder } from '@agentmux/lease-model'
import { type AdviceOptions, wanDeniedMessage } from '@agentmux/refusals'
import {
  type HolderAnswer,
  PendingMessages,
  type RelayMessage,
  RelayTick,
  type TakeOverAnswer,
  type TierAnswer,
  WanClient
} from '@agentmux/wan-client'
import type { PaneEvent } from '../panes/pane-answers.js'
import type { Panes } from '../panes/panes.js'
import { DrivenAgents } from './driven-agents.js'
import { giveUp } from './give-up.js'
import { RelayCheck } from './relay-check.js'
import type { RelayLog } from './relay-log.js'
import type { RelaySetting } from './relay-setting.js'
import { type RelayView, relayView } from './relay-view.js'
import { takeAtRelay } from './take-at-relay.js'
import { TroubleWatch } from './trouble-watch.js'

export interface RelayLinkPorts {
  readonly clock: Clock
  readonly admission: Pick<HostAdmission, 'held'>
  readonly panes: () => Pick<Panes, 'list' | 'send' | 'subscribe'>
  readonly log: RelayLog
  readonly advice?: AdviceOptions
  /** The relay moved an agent to us because a person asked for it. */
  readonly onTaken?: () => void
}

/** At the end of a pane or of the daemon: what is not let go by then lapses by itself. */
const RELEASE_WITHIN_MS = 5_000

export class RelayLink {
  readonly name = 'relay'
  readonly #ports: RelayLinkPorts
  readonly #setting: RelaySetting
  readonly #client: WanClient
  readonly #check: RelayCheck
  readonly #tick: RelayTick
  readonly #messages: PendingMessages
  readonly #driven: DrivenAgents
  readonly #trouble: TroubleWatch
  #unsubscribe = () => {}

  /** Sends nothing yet. @throws TypeError for a URL that cannot be used. */
  constructor(setting: RelaySetting, ports: RelayLinkPorts) {
    const { url, allowInsecureUrl = false, host, channel, version, install, token, random } = setting
    this.#setting = setting
    this.#ports = ports
    const driven = new DrivenAgents(ports.clock)
    this.#driven = driven
    const { clock, log } = ports
    this.#trouble = new TroubleWatch({ clock, log, leases: () => this.#client.leases })
    this.#client = new WanClient(
      { url, allowInsecureUrl, identity: { host, channel, version, install }, token: () => token.token() },
      {
        clock,
        isSubscribed: (agent) => driven.has(agent),
        onTrouble: (trouble) => this.#trouble.note(trouble),
        ...(random === undefined ? {} : { random })
      }
    )
    const client = this.#client
    this.#check = new RelayCheck(client.leases)
    const onFault = log.fault
    this.#tick = new RelayTick({
      client,
      liveAgents: () => driven.keys(),
      onHeldElsewhere: (agent, holder) => this.#giveUp(agent, holder),
      onFault,
      everyMs: setting.renewEveryMs
    })
    this.#messages = new PendingMessages({
      client,
      // A pane that is being closed takes no turn: what it would be given came back at once.
      liveAgents: () => driven.runningKeys(),
      isLive: (agent) => driven.running(agent) !== undefined,
      deliver: (agent, message) => this.#deliver(agent, message),
      onNotHolder: (agent, holder) => this.#giveUp(agent, holder),
      onFault
    })
  }

  start(): void {
    const panes = this.#ports.panes()
    this.#unsubscribe = panes.subscribe((event) => this.#note(event))
    // Some may run already.
    for (const pane of panes.list()) this.#note({ kind: 'opened', pane })
    this.#tick.start()
    this.#messages.start()
  }

  /** The early check. */
  heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<TierAnswer> {
    return this.#check.heldElsewhere(agent, signal)
  }

  /** An agent runs here now: it is claimed at the relay without waiting for the next tick. */
  agentStarted({ name }: AgentRef): void {
    if (name === undefined) return
    this.#driven.expectNoLonger(name)
    this.#client.leases.ensure(name).then((answer) => {
      if (answer.kind === 'held-elsewhere') this.#giveUp(name, answer.holder)
    }, this.#ports.log.fault)
  }

  /**
   * The relay's step of a take-over that a person asked for, once nobody on this computer holds the agent any more (R5). It is
   * moved only from the channel that has just let go of it here: from any other holder it would be taken while it runs.
   * Held, it is kept for HOLD_MS until a pane drives it. @throws the signal's reason; nothing is kept then.
   */
  async takeOver(
    name: string,
    options: { readonly letGoBy?: string | undefined; readonly signal: AbortSignal }
  ): Promise<TakeOverAnswer> {
    const { log, onTaken } = this.#ports
    return takeAtRelay(name, options, {
      leases: this.#client.leases,
      driven: this.#driven,
      letGo: () => this.notComing(name),
      onTaken: (epoch) => {
        log.taken(name, epoch)
        onTaken?.()
      }
    })
  }

  /** What was taken over is not driven here after all. */
  notComing(name: string): void {
    this.#driven.expectNoLonger(name)
    void this.release(name)
  }

  /** Lets go of the agent there, unless something of it runs here. Never throws, and ends in time. */
  async release(name: string): Promise<void> {
    const inTime = AbortSignal.timeout(RELEASE_WITHIN_MS)
    try {
      await this.#client.leases.release(name, { signal: inTime })
    } catch (fault) {
      if (!inTime.aborted) this.#ports.log.fault(fault)
    }
  }

  /** For `who`. A read. */
  holder(name: string, signal: AbortSignal): Promise<HolderAnswer> {
    return this.#client.leases.holder(name, { signal })
  }

  /** What a person reads where the relay names somebody else. */
  deniedMessage(agent: AgentRef, holder: Holder): string {
    const { clock, advice } = this.#ports
    return wanDeniedMessage(agent, holder, clock.wallMs(), advice)
  }

  view(): RelayView {
    return relayView(this.#setting, this.#client.leases)
  }

  /**
   * Messages first: what was claimed and not delivered goes back. What a pane of ours may still drive is not let go: it
   * lapses. Never throws, and ends in time.
   */
  async close(): Promise<void> {
    const tooLate = new AbortController()
    const cancel = this.#ports.clock.after(RELEASE_WITHIN_MS, () => {
      tooLate.abort(new Error('too late'))
      void this.#client.close()
    })
    try {
      await Promise.all([this.#messages.stop(), this.#tick.stop()])
      await this.#tick.releaseAll(tooLate.signal)
    } catch (fault) {
      if (!tooLate.signal.aborted) this.#ports.log.fault(fault)
    } finally {
      cancel()
      this.#trouble.close()
      this.#unsubscribe()
      await this.#client.close().catch(this.#ports.log.fault)
    }
  }

  #note(event: PaneEvent): void {
    const { agent } = event.pane
    if (this.#driven.note(event) && agent !== undefined) void this.release(agent)
  }

  #giveUp(name: string, holder: Holder): void {
    giveUp(name, holder, this.#ports)
  }

  /** As one turn, which verifies the lease first. False: nothing of it was said, and it goes back to the relay. */
  async #deliver(key: string, { message }: RelayMessage): Promise<boolean> {
    const pane = this.#driven.running(key)
    if (pane === undefined) return false
    const sent = await this.#ports.panes().send(pane.blockId, message)
    if (sent.kind !== 'sent') this.#ports.log.undelivered(key, sent.kind)
    return sent.kind === 'sent'
  }
}
