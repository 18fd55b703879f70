/**
 * What runs while the LAN is on: discovery, questions, the re-check, and the sockets at which others reach us. Looks again
 * soon when somebody new is seen or the network has come back, so that two drivers are found within one re-check.
 */
import { hostname } from 'node:os'
import type { HostAdmission } from '@agentmux/host-admission'
import {
  type DiscoveryEvent,
  LanDiscovery,
  type LanHolder,
  LanHoldings,
  LanRecheck,
  type LanSecret,
  LanTier
} from '@agentmux/lan-tier'
import type { Clock, InstanceIdentity } from '@agentmux/lease-model'
import type { LanServer } from '../http/lan-server.js'
import type { HeldLeases } from './held-leases.js'
import { LanListeners } from './lan-listeners.js'
import type { LanLog } from './lan-log.js'
import { LookSoon } from './look-soon.js'

export interface RunningLanOptions {
  readonly admission: Pick<HostAdmission, 'claimant'>
  readonly clock: Clock
  readonly instance: InstanceIdentity
  readonly lanKey: string
  readonly secret?: LanSecret | undefined
  readonly log: LanLog
  readonly server: LanServer
  readonly port: number
  readonly held: HeldLeases
  readonly onYield: (uid: string, holder: LanHolder) => void
}

/** Between two looks for which others on the network are the reason. */
const LOOK_SOON_EVERY_MS = 5_000
/** Ending takes no longer, whatever the network does. */
const CLOSE_WITHIN_MS = 3_000

export class RunningLan {
  readonly discovery: LanDiscovery
  readonly tier: LanTier
  readonly recheck: LanRecheck
  readonly listeners: LanListeners
  readonly #options: RunningLanOptions
  readonly #holdings: LanHoldings
  readonly #lookSoon: LookSoon

  /** Opens nothing. @throws TypeError if a name of ours is one that no peer would accept. */
  constructor(options: RunningLanOptions) {
    const { admission, clock, instance, lanKey, secret, log, server, port, held } = options
    const { channel, version, ownerBootId: instanceId } = instance
    this.#options = options
    this.discovery = new LanDiscovery({
      clock,
      identity: { instanceId, hostname: hostname(), version, channel },
      lanKey,
      onEvent: (event) => this.#onDiscovery(event)
    })
    const peers = () => this.discovery.peers.list()
    const ownLease = (uid: string) => held.of(uid)
    const asking = { peers, hostname: admission.claimant.hostname, ownLease, clock, secret }
    this.#holdings = new LanHoldings(asking)
    this.tier = new LanTier({ ...asking, holdings: this.#holdings })
    this.recheck = new LanRecheck({
      held: () => held.now(),
      ask: (questions, signal) => this.#holdings.ask(questions, signal),
      clock,
      onYield: options.onYield,
      onOutcome: log.outcome,
      onFault: log.fault
    })
    this.#lookSoon = new LookSoon(clock, LOOK_SOON_EVERY_MS, () => this.recheck.agentStarted())
    this.listeners = new LanListeners({
      createServer: server.createServer,
      port,
      clock,
      onChange: (addresses) => this.#onAddresses(addresses),
      onFault: log.notListening
    })
  }

  async start(): Promise<void> {
    this.listeners.open()
    await this.discovery.start()
    // Some may run here already.
    this.#lookSoon.ask()
  }

  /** Says goodbye. Bounded, and never rejects. */
  async close(): Promise<void> {
    this.#lookSoon.close()
    const bound = new AbortController()
    const enough = this.#options.clock.sleep(CLOSE_WITHIN_MS, bound.signal).catch(() => {})
    await Promise.race([this.#close(), enough])
    bound.abort()
    // Whatever hangs: nobody reaches us from here on.
    void this.listeners.close()
  }

  async #close(): Promise<void> {
    // The goodbye goes out before nobody can reach us any more.
    await Promise.allSettled([this.recheck.close(), this.discovery.close()])
    await Promise.allSettled([this.#holdings.close(), this.listeners.close()])
  }

  #onAddresses(addresses: readonly string[]): void {
    this.#options.log.listening(addresses)
    this.discovery.advertise(addresses.length > 0 ? this.#options.port : undefined)
    if (addresses.length > 0) this.#lookSoon.ask()
  }

  #onDiscovery(event: DiscoveryEvent): void {
    this.#options.log.discovery(event)
    if (event.kind === 'peer-seen') this.#lookSoon.ask()
  }
}
