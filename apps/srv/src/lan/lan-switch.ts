/**
 * The LAN of one daemon, on or off at any moment: who else is there, who of them drives an agent, and giving one up that
 * another computer keeps. Off, nothing is sent, listened to or asked. Keeps true that others are told of us only while they
 * can reach us, and that the host tier never waits for any of it (R7).
 */
import type { HostAdmission } from '@agentmux/host-admission'
import type { HeldOnLan, LanHolder, LanSecret } from '@agentmux/lan-tier'
import type { AgentRef, Clock, InstanceIdentity } from '@agentmux/lease-model'
import { type AdviceOptions, lostRefusal } from '@agentmux/refusals'
import type { LanServer } from '../http/lan-server.js'
import { HeldLeases } from './held-leases.js'
import { type LanAnswer, lanAnswerOf } from './lan-answer.js'
import type { LanLog } from './lan-log.js'
import { type LanView, lanView } from './lan-view.js'
import { RunningLan } from './running-lan.js'

export interface LanSwitchPorts {
  readonly admission: Pick<HostAdmission, 'held' | 'claimant'>
  readonly clock: Clock
  readonly instance: InstanceIdentity
  readonly lanKey: string
  readonly secret?: LanSecret | undefined
  readonly log: LanLog
  readonly advice?: AdviceOptions
  readonly server: () => Promise<LanServer>
  /** The port at which others reach us: that of the daemon, known once it listens. */
  readonly port: () => number
}

export type Turned =
  | { readonly kind: 'turned' }
  /** It is off. `why`: for people, with a way out. */
  | { readonly kind: 'not-turned'; readonly why: string }

/** What peers accept. */
const MIN_PORT = 1_024

export class LanSwitch {
  /** In the words of the early check. */
  readonly name = 'lan'
  readonly #ports: LanSwitchPorts
  readonly #held: HeldLeases
  #running: RunningLan | undefined
  /** Made at the first turn, and kept: it listens nowhere by itself. */
  #server: LanServer | undefined
  /** One turn after the other. */
  #turning: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(ports: LanSwitchPorts) {
    this.#ports = ports
    this.#held = new HeldLeases(ports.admission)
  }

  get isOn(): boolean {
    return this.#running !== undefined
  }

  /** Resolves when it is so; in order, if asked several times. Turning it on again changes nothing. Never rejects. */
  turn(on: boolean): Promise<Turned> {
    const turned = this.#turning.then(() => (on ? this.#turnOn() : this.#turnOff()))
    this.#turning = turned
    return turned
  }

  /** The early check: off, nobody is asked, and nobody objects. */
  async heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<HeldOnLan> {
    const running = this.#running
    if (running === undefined) return { kind: 'free' }
    const answer = await running.tier.heldElsewhere(agent, signal)
    const { multicast } = running.discovery.state
    if (
      answer.kind === 'free' &&
      multicast === 'unavailable' &&
      running.discovery.peers.list().length === 0
    ) {
      return { kind: 'unknown', why: 'multicast does not work here, and nobody is known' }
    }
    return answer
  }

  /** For `who`; undefined while it is off. */
  async answer(uid: string, signal: AbortSignal): Promise<LanAnswer | undefined> {
    const running = this.#running
    if (running === undefined) return undefined
    try {
      return lanAnswerOf(await running.tier.verdict(uid, signal), running.discovery.state)
    } catch (fault) {
      // Turned off meanwhile.
      if (this.#running !== running && !signal.aborted) return undefined
      throw fault
    }
  }

  isYielding(uid: string): boolean {
    const running = this.#running
    return running?.recheck.isYielding(this.#held.ourWritingOf(uid)) ?? false
  }

  /** An agent runs here now: the next look is soon. */
  agentStarted(): void {
    this.#running?.recheck.agentStarted()
  }

  /** For good. Bounded, and never rejects. */
  async close(): Promise<void> {
    this.#closed = true
    await this.turn(false)
    await this.#server?.app.close().catch(this.#ports.log.fault)
  }

  view(): LanView {
    const { secret } = this.#ports
    const running = this.#running
    if (running === undefined) return lanView({ signed: secret !== undefined })
    const { discovery, tier, listeners } = running
    return lanView({
      signed: secret !== undefined,
      on: {
        ...tier.state(),
        discovery: discovery.state,
        addresses: listeners.addresses,
        peers: discovery.peers.list()
      }
    })
  }

  async #turnOn(): Promise<Turned> {
    if (this.#running !== undefined) return { kind: 'turned' }
    if (this.#closed) return { kind: 'not-turned', why: 'the daemon is about to end' }
    const { log, secret, server, port } = this.#ports
    if (port() < MIN_PORT) {
      const why = `other computers take no port below ${MIN_PORT} for an AgentMux, and this daemon has ${port()}: start it with another --port`
      return { kind: 'not-turned', why }
    }
    let running: RunningLan | undefined
    try {
      this.#server ??= await server()
      running = new RunningLan({
        ...this.#ports,
        server: this.#server,
        port: port(),
        held: this.#held,
        onYield: (uid, holder) => this.#yield(uid, holder)
      })
      await running.start()
    } catch (fault) {
      log.fault(fault)
      await running?.close()
      const words = fault instanceof Error ? fault.message : String(fault)
      return { kind: 'not-turned', why: `the LAN could not be turned on: ${words}` }
    }
    this.#running = running
    log.turned(true, secret !== undefined)
    return { kind: 'turned' }
  }

  async #turnOff(): Promise<Turned> {
    const running = this.#running
    if (running === undefined) return { kind: 'turned' }
    this.#running = undefined
    await running.close()
    this.#ports.log.turned(false, this.#ports.secret !== undefined)
    return { kind: 'turned' }
  }

  /** From here on it is not held: no turn, no append; its processes end (R4). */
  #yield(uid: string, holder: LanHolder): void {
    const { admission, clock, advice = {} } = this.#ports
    for (const lease of admission.held) {
      if (lease.agent.uid !== uid || !lease.held) continue
      lease.fence(lostRefusal(lease.agent, 'yielded', clock.wallMs(), { ...advice, holder }))
    }
  }
}
