/**
 * Looks for peers over multicast: asks on a schedule, puts together what comes back, and tells the table of everyone who
 * is not ourselves. What it has heard before it says in the question, so that those who are known stay quiet.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import { plainAddress } from '../peers/address-kinds.js'
import { isOurselves, type OwnMachine } from '../peers/own-machine.js'
import { type PeerTable, peerKey } from '../peers/peer-table.js'
import { isDueForRefresh, nextBrowseMs } from './browse-schedule.js'
import type { DiscoveryTimings } from './discovery-timings.js'
import { type DnsMessage, type DnsQuestion, type DnsRecord, TRUNCATED_FLAG } from './dns-message.js'
import { FollowUps } from './follow-ups.js'
import type { Link } from './links.js'
import type { Sender } from './sender.js'
import { type FoundService, ServiceCache } from './service-cache.js'
import { SERVICE } from './service-names.js'

/** A packet of known answers stays below the usual MTU; with more peers than fit into so many, some will answer again. */
const KNOWN_PER_PACKET = 10
const MAX_KNOWN_PACKETS = 8

export interface BrowserOptions {
  readonly clock: Clock
  readonly random: () => number
  readonly timings: DiscoveryTimings
  readonly sender: Sender
  readonly peers: PeerTable
  readonly links: () => readonly Link[]
  readonly own: () => OwnMachine
  readonly isOnLink: (address: string) => boolean
  readonly ownPtr: () => DnsRecord | undefined
  /** Another round of questions has gone out. */
  readonly onRound: (round: number) => void
}

export class Browser {
  readonly #options: BrowserOptions
  readonly #cache: ServiceCache
  readonly #followUps: FollowUps
  #round = 0
  #dueMs = 0
  #restartedMs = 0
  #cancel: CancelTimer | undefined

  constructor(options: BrowserOptions) {
    this.#options = options
    this.#cache = new ServiceCache({
      nowMs: () => options.clock.bootMs(),
      isOnLink: options.isOnLink
    })
    this.#followUps = new FollowUps(options.clock, (questions) => this.#send({ type: 'query', questions }))
  }

  /** Begins to ask from the start: at first, after a change of the links, and after we were away. */
  restart(): void {
    this.#round = 0
    this.#restartedMs = this.#options.clock.bootMs()
    this.#arm(20 + this.#options.random() * 100)
  }

  /** Forgets what has not been heard of for hours. */
  prune(): void {
    this.#cache.prune()
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#followUps.cancel()
    this.#cache.clear()
  }

  onResponse(records: readonly DnsRecord[], from: string): void {
    const source = plainAddress(from)
    if (source === undefined) return
    this.#followUps.answered(records)
    const { found, missing, withdrawn } = this.#cache.take(records, source)
    const hosts = new Set(
      records.flatMap(({ name, type }) => (type === 'A' || type === 'AAAA' ? [name.toLowerCase()] : []))
    )
    const completed = hosts.size > 0 ? this.#cache.reassemble(source, hosts) : []
    const services = new Map([...completed, ...found].map((one) => [one.service, one]))
    for (const one of services.values()) this.#tell(one)
    if (missing.length > 0) this.#followUps.want(missing, source)
    for (const service of withdrawn) {
      const claim = this.#cache.claimOf(service)
      if (claim) this.#options.peers.withdrawn(claim, source)
    }
  }

  #tell({ service, claim, addresses }: FoundService): void {
    const { peers, own } = this.#options
    const ours = own()
    const { source } = service
    if (isOurselves(ours, { port: claim.port, addresses, source })) return
    // Of another machine's addresses those that are also ours (docker0) lead back to us.
    const theirs = ours.addresses.has(source)
      ? addresses
      : addresses.filter((address) => !ours.addresses.has(address))
    if (theirs.length === 0) return
    const ttlMs = Math.max(...service.ttls.values()) * 1_000
    if (peers.saw({ claim, addresses: theirs, source, ttlMs }) === 'seen') this.#bringForward()
  }

  #arm(afterMs: number): void {
    this.#cancel?.()
    this.#dueMs = this.#options.clock.bootMs() + afterMs
    this.#cancel = this.#options.clock.after(afterMs, () => {
      this.#ask()
      this.#round++
      this.#options.onRound(this.#round)
      this.#arm(this.#nextMs())
    })
  }

  /** A new peer may need to be seen again before the next round is due. */
  #bringForward(): void {
    const nextMs = this.#nextMs()
    if (this.#cancel && this.#options.clock.bootMs() + nextMs < this.#dueMs) this.#arm(nextMs)
  }

  #nextMs(): number {
    const { clock, peers, timings, random } = this.#options
    const nowMs = clock.bootMs()
    const nextMs = nextBrowseMs({ round: this.#round, nowMs, deadlines: peers.deadlines(), timings })
    return nextMs * (1 + random() * 0.1)
  }

  #ask(): void {
    const known = this.#knownAnswers()
    const questions: readonly DnsQuestion[] = [{ name: SERVICE, type: 'PTR', class: 'IN' }]
    const packets = Math.max(1, Math.min(MAX_KNOWN_PACKETS, Math.ceil(known.length / KNOWN_PER_PACKET)))
    for (let i = 0; i < packets; i++) {
      this.#send({
        type: 'query',
        flags: i < packets - 1 ? TRUNCATED_FLAG : 0,
        questions: i === 0 ? questions : [],
        answers: known.slice(i * KNOWN_PER_PACKET, (i + 1) * KNOWN_PER_PACKET)
      })
    }
  }

  #knownAnswers(): DnsRecord[] {
    const nowMs = this.#options.clock.bootMs()
    const fresh = new Set<string>()
    for (const deadline of this.#options.peers.deadlines()) {
      // After a change everybody is to show himself once: what was known may be out of date.
      const isFresh = deadline.lastSeenMs >= this.#restartedMs && !isDueForRefresh(deadline, nowMs)
      if (isFresh) fresh.add(deadline.key)
    }
    const records = new Map<string, DnsRecord>()
    const ownPtr = this.#options.ownPtr()
    if (ownPtr) records.set('', ownPtr)
    for (const service of this.#cache.services()) {
      const claim = this.#cache.claimOf(service)
      if (!claim || !service.ptr || !fresh.has(peerKey(claim))) continue
      const leftS = service.ptr.ttl - Math.floor((nowMs - service.ptr.atMs) / 1_000)
      if (leftS <= service.ptr.ttl / 2) continue
      const data = `${service.label}.${SERVICE}`
      records.set(data.toLowerCase(), { name: SERVICE, type: 'PTR', class: 'IN', ttl: leftS, data })
    }
    return [...records.values()]
  }

  #send(message: DnsMessage): void {
    for (const link of this.#options.links()) this.#options.sender.toLink(message, link)
  }
}
