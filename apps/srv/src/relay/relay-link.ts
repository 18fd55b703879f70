/**
 * The relay of one daemon: what its panes drive is held there too, in one request every 20 s; an agent that another computer
 * has is refused before a start and given up while it runs; messages that wait there become turns. Keeps true that silence
 * of the relay stops nothing (R7), and that no message takes an agent over (R5).
 */
import type { HostAdmission } from '@agentmux/host-admission'
import type { AgentRef, Clock, Holder } from '@agentmux/lease-model'
import { type AdviceOptions, lostRefusal } from '@agentmux/refusals'
import {
  agentKey,
  type HolderAnswer,
  PendingMessages,
  type RelayMessage,
  RelayTick,
  RelayTier,
  type TakeOverAnswer,
  type TierAnswer,
  WanClient
} from '@agentmux/wan-client'
import type { PaneView } from '../panes/pane-answers.js'
import type { Panes } from '../panes/panes.js'
import type { RelayLog } from './relay-log.js'
import type { RelayToken } from './relay-token.js'

export interface RelaySetting {
  readonly url: string
  readonly allowInsecureUrl?: boolean
  readonly host: string
  readonly channel: string
  readonly version: string
  /** Of this channel and shared root. */
  readonly install: string
  readonly token: RelayToken
}

export interface RelayLinkPorts {
  readonly clock: Clock
  readonly admission: Pick<HostAdmission, 'names' | 'held'>
  readonly panes: () => Pick<Panes, 'list' | 'send' | 'subscribe'>
  readonly log: RelayLog
  readonly advice?: AdviceOptions
}

/** For `doctor`. No token is in it. */
export interface RelayView {
  readonly url: string
  readonly instance: string
  /** Agents that are held there for us. */
  readonly held: readonly string[]
  /** Why its last word was none. */
  readonly trouble?: string
  /** What is the matter with the token. */
  readonly token_problem?: string
}

/** Before a start the relay may be asked this long; a slow one is not waited for (R7). */
const ASK_BEFORE_START_MS = 2_000
/** At the end of a pane or of the daemon: what is not let go by then lapses by itself. */
const RELEASE_WITHIN_MS = 5_000

export class RelayLink {
  readonly name = 'relay'
  readonly #ports: RelayLinkPorts
  readonly #setting: RelaySetting
  readonly #client: WanClient
  readonly #tier: RelayTier
  readonly #tick: RelayTick
  readonly #messages: PendingMessages
  #unsubscribe = () => {}

  /** @throws TypeError for a URL that cannot be used. */
  constructor(setting: RelaySetting, ports: RelayLinkPorts) {
    const { url, allowInsecureUrl = false, host, channel, version, install, token } = setting
    this.#setting = setting
    this.#ports = ports
    this.#client = new WanClient(
      { url, allowInsecureUrl, identity: { host, channel, version, install }, token: () => token.token() },
      {
        clock: ports.clock,
        isSubscribed: (agent) => this.#live().has(agent),
        onTrouble: ports.log.trouble
      }
    )
    this.#tier = new RelayTier(this.#client.leases)
    const liveAgents = () => this.#live().keys()
    this.#tick = new RelayTick({
      client: this.#client,
      liveAgents,
      onHeldElsewhere: (agent, holder) => this.#giveUp(agent, holder),
      onFault: ports.log.fault
    })
    this.#messages = new PendingMessages({
      client: this.#client,
      liveAgents,
      isLive: (agent) => this.#live().has(agent),
      deliver: (agent, message) => this.#deliver(agent, message),
      onNotHolder: (agent, holder) => this.#giveUp(agent, holder),
      onFault: ports.log.fault
    })
  }

  start(): void {
    this.#unsubscribe = this.#ports.panes().subscribe(({ pane }) => {
      if (pane.agent !== undefined && !isLive(pane)) void this.release(pane.agent)
    })
    this.#tick.start()
    this.#messages.start()
  }

  /**
   * The early check: what the relay said lately, or says now; a relay that is silent or slow objects to nothing. An agent
   * that is held for us is not asked about.
   */
  async heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<TierAnswer> {
    const known = await this.#tier.heldElsewhere(agent, signal)
    if (known.kind !== 'free' || agent.name === undefined || this.#client.leases.isHeld(agent.name))
      return known
    const soon = AbortSignal.any([signal, AbortSignal.timeout(ASK_BEFORE_START_MS)])
    try {
      const answer = await this.#client.leases.holder(agent.name, { signal: soon })
      if (answer.kind === 'other') return { kind: 'held', holder: answer.holder }
      return answer.kind === 'unknown'
        ? { kind: 'unknown', why: `the relay: ${answer.why}` }
        : { kind: 'free' }
    } catch (reason) {
      signal.throwIfAborted()
      if (soon.aborted) return { kind: 'unknown', why: 'the relay did not answer in time' }
      throw reason
    }
  }

  /** An agent runs here now: it is claimed at the relay without waiting for the next tick. */
  agentStarted({ name }: AgentRef): void {
    if (name === undefined) return
    const claimed = this.#client.leases.ensure(name)
    claimed.then((answer) => {
      if (answer.kind === 'held-elsewhere') this.#giveUp(name, answer.holder)
      if (answer.kind !== 'unknown') this.#ports.log.answered()
    }, this.#ports.log.fault)
  }

  /** The relay's step of a take-over that a person asked for (R5): what it refused before does not count any more. */
  async takeOver(name: string, signal: AbortSignal): Promise<TakeOverAnswer> {
    this.#client.leases.forgetElsewhere(name)
    return this.#client.leases.takeOver(name, { signal })
  }

  /** Lets go of the agent there, unless a pane drives it again. Never throws, and ends in time. */
  async release(name: string): Promise<void> {
    try {
      await this.#client.leases.release(name, { signal: AbortSignal.timeout(RELEASE_WITHIN_MS) })
    } catch (fault) {
      this.#ports.log.fault(fault)
    }
  }

  /** For `who`. */
  holder(name: string, signal: AbortSignal): Promise<HolderAnswer> {
    return this.#client.leases.holder(name, { signal })
  }

  view(): RelayView {
    const { url, token } = this.#setting
    const trouble = this.#client.leases.lastTrouble()
    const problem = token.problem()
    return {
      url,
      instance: this.#client.leases.instanceId,
      held: this.#client.leases.held(),
      ...(trouble === undefined ? {} : { trouble }),
      ...(problem === undefined ? {} : { token_problem: problem })
    }
  }

  /** Messages first: what was claimed and not delivered goes back while we are still the holder. */
  async close(): Promise<void> {
    this.#unsubscribe()
    const inTime = AbortSignal.timeout(RELEASE_WITHIN_MS)
    await this.#messages.stop()
    await this.#tick.stop()
    await this.#tick.releaseAll(inTime).catch(this.#ports.log.fault)
    await this.#client.close()
  }

  /** What is driven here, by the name that the relay keeps. */
  #live(): Map<string, PaneView> {
    const live = new Map<string, PaneView>()
    for (const pane of this.#ports.panes().list()) {
      const key = pane.agent === undefined || !isLive(pane) ? undefined : agentKey(pane.agent)
      if (key !== undefined) live.set(key, pane)
    }
    return live
  }

  /** From here on no turn is started and nothing is appended (R4); what runs is stopped. */
  #giveUp(name: string, holder: Holder): void {
    const { admission, clock, advice = {}, log } = this.#ports
    const pane = this.#live().get(agentKey(name) ?? '')
    if (pane === undefined) return
    log.heldElsewhere(name, holder)
    const agent = { uid: pane.uid, name: pane.agent ?? name }
    admission.names.fenceAgentNamed(
      name,
      lostRefusal(agent, 'other-owner', clock.wallMs(), { ...advice, holder })
    )
  }

  /** As one turn. False: it goes back to the relay. */
  async #deliver(name: string, { message }: RelayMessage): Promise<boolean> {
    const pane = this.#live().get(name)
    if (pane === undefined || pane.state !== 'running') return false
    const sent = await this.#ports.panes().send(pane.blockId, message)
    if (sent.kind === 'sent') return true
    this.#ports.log.undelivered(name, sent.kind)
    return false
  }
}

function isLive({ state }: PaneView): boolean {
  return state === 'running' || state === 'closing'
}
