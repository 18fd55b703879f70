/**
 * The LAN of one daemon, on or off at any moment: who else is there, who of them drives an agent, and giving one up that
 * another computer keeps. Off, nothing is sent, listened to or asked. Keeps true that others are told of us only while they
 * can reach us, and that the host tier never waits for any of it (R7).
 */
import { hostname } from 'node:os'
import type { HostAdmission } from '@agentmux/host-admission'
import {
  type HeldOnLan,
  LanDiscovery,
  type LanHolder,
  LanHoldings,
  LanRecheck,
  type LanSecret,
  LanTier,
  type LanVerdict,
  type OwnLease
} from '@agentmux/lan-tier'
import type { AgentRef, Clock, InstanceIdentity } from '@agentmux/lease-model'
import { type AdviceOptions, lostRefusal } from '@agentmux/refusals'
import type { LanServer } from '../http/lan-server.js'
import { LanListeners } from './lan-listeners.js'
import type { LanLog } from './lan-log.js'
import { type LanView, lanView } from './lan-view.js'

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

/** What runs while the LAN is on. */
interface Running {
  readonly discovery: LanDiscovery
  readonly holdings: LanHoldings
  readonly tier: LanTier
  readonly recheck: LanRecheck
  readonly listeners: LanListeners
}

export class LanSwitch {
  /** In the words of the early check. */
  readonly name = 'lan'
  readonly #ports: LanSwitchPorts
  #running: Running | undefined
  /** Made at the first turn, and kept: it listens nowhere by itself. */
  #server: Promise<LanServer> | undefined
  /** One turn after the other. */
  #turning: Promise<void> = Promise.resolve()

  constructor(ports: LanSwitchPorts) {
    this.#ports = ports
  }

  get isOn(): boolean {
    return this.#running !== undefined
  }

  /** Resolves when it is so. Turning it on again changes nothing. */
  turn(on: boolean): Promise<void> {
    const turned = this.#turning.then(() => (on ? this.#turnOn() : this.#turnOff()))
    this.#turning = turned.catch(() => {})
    return turned
  }

  /** The early check: off, nobody is asked, and nobody objects. */
  async heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<HeldOnLan> {
    return (await this.#running?.tier.heldElsewhere(agent, signal)) ?? { kind: 'free' }
  }

  /** For `who`; undefined while it is off. */
  async verdict(uid: string, signal: AbortSignal): Promise<LanVerdict | undefined> {
    return this.#running?.tier.verdict(uid, signal)
  }

  isYielding(uid: string): boolean {
    return this.#running?.recheck.isYielding(uid) ?? false
  }

  /** An agent runs here now: the next look is soon. */
  agentStarted(): void {
    this.#running?.recheck.agentStarted()
  }

  /** For good. */
  async close(): Promise<void> {
    await this.turn(false)
    await (await this.#server)?.app.close()
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

  async #turnOn(): Promise<void> {
    if (this.#running !== undefined) return
    const { admission, clock, instance, lanKey, secret, log, port } = this.#ports
    const { channel, version } = instance
    const discovery = new LanDiscovery({
      clock,
      identity: { instanceId: instance.ownerBootId, hostname: hostname(), version, channel },
      lanKey,
      onEvent: log.discovery
    })
    const peers = () => discovery.peers.list()
    const ownLease = (uid: string) => this.#held().get(uid)
    const asking = { peers, hostname: admission.claimant.hostname, ownLease, clock, secret }
    const holdings = new LanHoldings(asking)
    const tier = new LanTier({ ...asking, holdings })
    const recheck = new LanRecheck({
      held: () => this.#held(),
      ask: (questions, signal) => holdings.ask(questions, signal),
      clock,
      onYield: (uid, holder) => this.#yield(uid, holder),
      onOutcome: log.outcome,
      onFault: log.fault
    })
    this.#server ??= this.#ports.server()
    const server = await this.#server
    const listeners = new LanListeners({
      createServer: server.createServer,
      port: port(),
      clock,
      onChange: (addresses) => {
        log.listening(addresses)
        discovery.advertise(addresses.length > 0 ? port() : undefined)
      },
      onFault: log.notListening
    })
    this.#running = { discovery, holdings, tier, recheck, listeners }
    listeners.open()
    await discovery.start()
    // Some may run here already.
    recheck.agentStarted()
    log.turned(true, secret !== undefined)
  }

  async #turnOff(): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    this.#running = undefined
    const { discovery, holdings, recheck, listeners } = running
    // The goodbye goes out before nobody can reach us any more.
    await Promise.allSettled([recheck.close(), discovery.close()])
    await Promise.allSettled([holdings.close(), listeners.close()])
    this.#ports.log.turned(false, this.#ports.secret !== undefined)
  }

  #held(): Map<string, OwnLease> {
    const { admission } = this.#ports
    const { hostname: host } = admission.claimant
    const held = new Map<string, OwnLease>()
    for (const { agent, claimId, acquiredAtMs, held: isHeld } of admission.held) {
      if (isHeld) held.set(agent.uid, { claimId, acquiredAtMs, hostname: host })
    }
    return held
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
