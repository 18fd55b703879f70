/**
 * Finds the other instances on the network and lets them find us: multicast DNS on every interface, the UDP probe beside
 * it, both for as long as it runs, whatever happens to the interfaces. Nothing that arrives can stop it or make it grow
 * without bound. A peer is somebody to ask; nothing about it is proven.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import type { OwnMachine } from '../peers/own-machine.js'
import { acceptClaim, type PeerClaim } from '../peers/peer-claim.js'
import { PeerTable } from '../peers/peer-table.js'
import { Advertiser } from './advertiser.js'
import { Browser } from './browser.js'
import type { DiscoveryEvent } from './discovery-event.js'
import { type DiscoveryPorts, SYSTEM_PORTS } from './discovery-ports.js'
import { causeCode, type DiscoveryState, interfaceStates } from './discovery-state.js'
import { DISCOVERY_TIMINGS, type DiscoveryTimings } from './discovery-timings.js'
import type { DnsMessage } from './dns-message.js'
import { FaultLog } from './fault-log.js'
import { isOnLink, type LinkReading, linksOfSender, NO_LINKS, readLinks } from './links.js'
import type { Family } from './multicast-socket.js'
import { MulticastTransport } from './multicast-transport.js'
import { ProbePair } from './probe-pair.js'
import { encodeTxt } from './txt-record.js'

/** Interfaces are read again so soon after one failed. */
const AFTER_TROUBLE_MS = 1_000
/** How long a goodbye may take. */
const GOODBYE_WITHIN_MS = 1_000
/** With multicast at work the probe is asked in the first rounds and then in every so many-th. */
const FIRST_PROBE_ROUNDS = 2
const PROBE_EVERY_ROUNDS = 4

export interface DiscoveryOptions {
  readonly clock: Clock
  readonly identity: {
    readonly instanceId: string
    readonly hostname: string
    readonly version: string
    readonly channel: string
  }
  /** Goes out in the clear. It may open who-holds and nothing else. */
  readonly lanKey: string
  /** Told of each change; must not throw. */
  readonly onEvent?: (event: DiscoveryEvent) => void
  readonly timings?: Partial<DiscoveryTimings>
  readonly ports?: Partial<DiscoveryPorts>
}

export class LanDiscovery {
  readonly peers: PeerTable
  readonly #clock: Clock
  readonly #ports: DiscoveryPorts
  readonly #timings: DiscoveryTimings
  readonly #tell: (event: DiscoveryEvent) => void
  readonly #faults: FaultLog
  readonly #transport: MulticastTransport
  readonly #advertiser: Advertiser
  readonly #browser: Browser
  readonly #probe: ProbePair
  readonly #ownPorts = new Set<number>()
  #reading: LinkReading = NO_LINKS
  #port: number | undefined
  #phase: 'new' | 'running' | 'closed' = 'new'
  #started: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #cancelTick: CancelTimer | undefined
  #tickMs = 0
  #isTickSoon = false
  #readMs = Number.NEGATIVE_INFINITY
  /** What the sockets have joined. */
  #joinedSignature = ''

  /** @throws {TypeError} if a field of the identity, or the key, is one that no peer would accept */
  constructor(options: DiscoveryOptions) {
    const { clock, identity, lanKey } = options
    const us = ourClaim(identity, lanKey)
    this.#clock = clock
    this.#ports = { ...SYSTEM_PORTS, ...options.ports }
    this.#timings = { ...DISCOVERY_TIMINGS, ...options.timings }
    this.#tell = options.onEvent ?? (() => {})
    this.#faults = new FaultLog(this.#tell)
    this.peers = new PeerTable({ clock, timings: this.#timings })
    this.peers.subscribe(({ kind, peer }) => this.#tell({ kind: `peer-${kind}`, peer }))
    const shared = {
      clock,
      ports: this.#ports,
      faults: this.#faults,
      peers: this.peers,
      links: () => this.#reading.links,
      own: () => this.#own()
    }
    this.#transport = new MulticastTransport({
      ...shared,
      onMessage: (message, from, family) => this.#onMessage(message, { ...from, family }),
      onTrouble: () => this.#tickSoon()
    })
    this.#advertiser = new Advertiser({
      ...shared,
      ...this.#timings,
      sender: this.#transport,
      hostname: identity.hostname,
      txt: encodeTxt({
        version: us.version,
        hostname: us.hostname,
        instance_id: us.instanceId,
        auth_key: us.authKey,
        channel: us.channel
      }),
      reading: (afresh) => {
        if (afresh && this.#clock.bootMs() - this.#readMs > AFTER_TROUBLE_MS) this.#readLinks()
        return this.#reading
      },
      onNamed: (names) => this.#tell({ kind: 'advertised', ...names }),
      onContested: () => this.#faults.began('name-contested')
    })
    this.#browser = new Browser({
      ...shared,
      random: this.#ports.random,
      timings: this.#timings,
      sender: this.#transport,
      isOnLink: (address) => isOnLink(this.#reading.links, address),
      ownPtr: () => this.#advertiser.ownPtr,
      onRound: (round) => this.#onRound(round)
    })
    this.#probe = new ProbePair({
      ...shared,
      us: () => (this.#advertiser.port === undefined ? undefined : { ...us, port: this.#advertiser.port })
    })
  }

  get state(): DiscoveryState {
    const joined = this.#transport.joined
    const interfaces = interfaceStates(this.#reading, joined)
    if (this.#phase !== 'running') return { multicast: 'off', probe: 'off', interfaces }
    const multicast = joined.size > 0 ? 'working' : 'unavailable'
    const probe = this.#probe.isListening ? 'listening' : 'unavailable'
    const why = [
      ...(multicast === 'unavailable' ? [`multicast: ${causeCode(this.#transport.cause)}`] : []),
      ...(probe === 'unavailable' ? [`probe: ${causeCode(this.#probe.cause)}`] : [])
    ].join(', ')
    return { multicast, probe, ...(why !== '' && { why }), interfaces }
  }

  /**
   * Begins to look for peers and to answer probes. Resolves once everything is open that can be; what cannot be opened is
   * told as a fault and tried again.
   *
   * @throws {TypeError} after `close`
   */
  start(): Promise<void> {
    if (this.#phase === 'closed') throw new TypeError('this discovery is closed; make another one')
    this.#started ??= this.#start()
    return this.#started
  }

  /**
   * Lets others find us at this port, from now on or from `start` on; `undefined` takes that back with a goodbye.
   *
   * @throws {RangeError} if no peer would accept the port
   */
  advertise(port: number | undefined): void {
    if (port !== undefined && (!Number.isInteger(port) || port < 1_024 || port > 65_535)) {
      throw new RangeError(`a peer listens on a port from 1024 to 65535, not ${port}`)
    }
    if (this.#phase === 'closed') return
    this.#port = port
    if (port !== undefined) this.#ownPorts.add(port)
    if (this.#phase !== 'running') return
    if (port === undefined) this.#advertiser.stop()
    else this.#advertiser.start(port)
  }

  /** Says goodbye and leaves no socket and no timer behind. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #start(): Promise<void> {
    this.#phase = 'running'
    this.#readLinks()
    this.#tickMs = this.#clock.bootMs()
    this.#joinedSignature = this.#reading.signature
    this.#armTick(this.#timings.watchMs)
    await Promise.all([this.#transport.refresh(this.#reading.links), this.#probe.refresh()])
    if (this.#closing) return
    this.#browser.restart()
    if (this.#port !== undefined) this.#advertiser.start(this.#port)
  }

  async #close(): Promise<void> {
    this.#cancelTick?.()
    this.#cancelTick = undefined
    this.#browser.stop()
    this.#advertiser.stop()
    this.#phase = 'closed'
    const bound = new AbortController()
    await Promise.race([
      this.#transport.flushed(),
      this.#clock.sleep(GOODBYE_WITHIN_MS, bound.signal).catch(() => {})
    ])
    bound.abort()
    await Promise.all([this.#transport.close(), this.#probe.close()])
  }

  #onMessage(message: DnsMessage, from: { address: string; port: number; family: Family }): void {
    if (this.#phase !== 'running') return
    if (message.type === 'query') {
      const links = linksOfSender(this.#reading.links, from.address)
      this.#advertiser.onQuery(message, { ...from, links })
      return
    }
    // The standard has nothing to say from another port.
    if (from.port !== this.#ports.mdnsPort) return
    const records = [...(message.answers ?? []), ...(message.additionals ?? [])]
    this.#advertiser.onResponse(records, from.address)
    this.#browser.onResponse(records, from.address)
  }

  #onRound(round: number): void {
    const alone = this.#transport.joined.size === 0
    const nowMs = this.#clock.bootMs()
    const due = [...this.peers.deadlines()].some(
      ({ byProbe, lastSeenMs, expiresMs }) => byProbe && nowMs - lastSeenMs >= (expiresMs - lastSeenMs) / 2
    )
    if (alone || due || round <= FIRST_PROBE_ROUNDS || round % PROBE_EVERY_ROUNDS === 0) this.#probe.ask()
  }

  /** What is done every time the interfaces are read: nothing in here waits for the network. */
  #tick(): void {
    const nowMs = this.#clock.bootMs()
    const wasAway = nowMs - this.#tickMs > this.#timings.gapMs
    this.#tickMs = nowMs
    this.#isTickSoon = false
    this.#armTick(this.#timings.watchMs)
    this.#readLinks()
    this.peers.tick()
    this.#browser.prune()
    void this.#probe.refresh()
    const { links, signature } = this.#reading
    const areOthers = signature !== this.#joinedSignature
    this.#joinedSignature = signature
    void this.#transport.refresh(links).then(() => {
      if (this.#phase !== 'running' || !(wasAway || areOthers)) return
      this.#browser.restart()
      this.#advertiser.announceAgain()
    })
  }

  #readLinks(): void {
    this.#readMs = this.#clock.bootMs()
    try {
      const reading = readLinks(this.#ports.interfaces)
      const changed = reading.signature !== this.#reading.signature
      this.#reading = reading
      this.#faults.over('interfaces-unreadable')
      const names = reading.links.map(({ name }) => name)
      if (changed) this.#tell({ kind: 'interfaces-changed', interfaces: names })
    } catch (cause) {
      this.#faults.began('interfaces-unreadable', { cause })
    }
  }

  #armTick(afterMs: number): void {
    this.#cancelTick?.()
    this.#cancelTick = this.#clock.after(afterMs, () => this.#tick())
  }

  /** Not more often than once in that time, however much fails. */
  #tickSoon(): void {
    if (this.#phase !== 'running' || this.#isTickSoon) return
    this.#isTickSoon = true
    this.#armTick(Math.min(this.#timings.watchMs, AFTER_TROUBLE_MS))
  }

  #own(): OwnMachine {
    return { ports: this.#ownPorts, addresses: this.#reading.addresses }
  }
}

/** Everything but the port, checked as a peer will check it. */
function ourClaim(identity: DiscoveryOptions['identity'], lanKey: string): PeerClaim {
  const us = acceptClaim({ ...identity, authKey: lanKey, port: 65_535 })
  if (!us || lanKey === '') {
    throw new TypeError(
      'an instance id is 1 to 128 bytes, a host name at most 253, version and channel at most 64, a LAN key 1 to 256 printable ASCII characters; none has control characters'
    )
  }
  return us
}
