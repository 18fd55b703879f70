/**
 * Puts one instance on the network: finds out that the name is free, announces it, answers for it, takes it back. The
 * answers are bounded by time and link, not by how much is asked. Nothing of it waits for anything.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import { plainAddress } from '../peers/address-kinds.js'
import type { DiscoveryPorts } from './discovery-ports.js'
import { AUTHORITATIVE_FLAG, type DnsMessage, type DnsQuestion, type DnsRecord } from './dns-message.js'
import type { Link, LinkReading } from './links.js'
import type { Family } from './multicast-socket.js'
import { contradicts, losesTo, type OurClaim } from './name-conflict.js'
import { type AnswerKind, PendingAnswers } from './pending-answers.js'
import type { Sender } from './sender.js'
import { SERVICE, serviceNames } from './service-names.js'
import {
  type Advertisement,
  goodbye,
  isReachableOn,
  type ServiceRecords,
  serviceRecords
} from './service-records.js'
import { isProbeFor, knowsOurPtr, wantedAnswers } from './wanted-answers.js'

const PROBES = 3
const PROBE_GAP_MS = 250
/** Multicast gets lost: three times, further and further apart. */
const ANNOUNCE_AFTER_MS = [0, 1_000, 3_000]
/** Somebody who contests every name gets this far within a minute; then we keep the last one. */
const MAX_RENAMES = 10
const RENAMES_WITHIN_MS = 60_000
const FAMILIES: readonly Family[] = ['IPv4', 'IPv6']
const LEGACY_TTL = 10
const MAX_ECHOED = 4
const EVERYTHING: readonly AnswerKind[] = ['ptr', 'srv', 'txt', 'addresses']

export interface AdvertiserOptions {
  readonly clock: Clock
  readonly ports: Pick<DiscoveryPorts, 'random' | 'mdnsPort'>
  readonly sender: Sender
  readonly hostname: string
  readonly txt: readonly Buffer[]
  readonly hostTtlMs: number
  readonly serviceTtlMs: number
  /** The latest reading; `afresh` when the interfaces may just have changed. */
  readonly reading: (afresh?: boolean) => LinkReading
  readonly onNamed: (names: { readonly label: string; readonly host: string }) => void
  readonly onContested: () => void
}

export interface Asker {
  /** With its zone, if it has one. */
  readonly address: string
  readonly port: number
  readonly family: Family
  readonly links: readonly Link[]
}

export class Advertiser {
  readonly #options: AdvertiserOptions
  readonly #pending = new Map<string, PendingAnswers>()
  readonly #timers = new Set<CancelTimer>()
  #ad: Advertisement | undefined
  #named = false
  #attempt = 1
  #renamedMs: number[] = []

  constructor(options: AdvertiserOptions) {
    this.#options = options
  }

  get port(): number | undefined {
    return this.#ad?.port
  }

  /** What others know of us: said in our own questions, so that we do not answer ourselves. */
  get ownPtr(): DnsRecord | undefined {
    if (!this.#ad || !this.#named) return undefined
    const { names, serviceTtl } = this.#ad
    return { name: SERVICE, type: 'PTR', class: 'IN', ttl: serviceTtl, data: names.instance }
  }

  /** Begins to advertise; the name is announced once nobody has objected to it. */
  start(port: number): void {
    if (this.#ad?.port === port) return
    this.stop()
    this.#attempt = 1
    this.#use(port)
  }

  /** Takes everything back, on every link, with a goodbye that is queued when this returns. */
  stop(): void {
    const ad = this.#ad
    this.#cancelAll()
    this.#ad = undefined
    if (!ad || !this.#named) return
    for (const link of this.#reachableLinks()) {
      const { ptr, srv, txt } = serviceRecords(ad, link)
      this.#options.sender.toLink(response([ptr, srv, txt].map(goodbye)), link)
    }
  }

  /** The links are others than before, or we were away: everybody is told again. */
  announceAgain(): void {
    if (this.#ad && this.#named) this.#announce()
  }

  onQuery(query: DnsMessage, asker: Asker): void {
    const ad = this.#ad
    if (!ad) return
    if (!this.#named) {
      if (!this.#isOurOwn(asker.address) && losesTo(query, this.#claim(ad))) this.#rename(ad)
      return
    }
    const wanted = wantedAnswers(query, ad.names)
    if (asker.port !== this.#options.ports.mdnsPort) {
      this.#answerLegacy(query, { ad, wanted, asker })
      return
    }
    const knows = knowsOurPtr(query, ad.names, ad.serviceTtl)
    if (knows) wanted.delete('ptr')
    const probed = !this.#isOurOwn(asker.address) && isProbeFor(query, ad.names)
    for (const link of asker.links.filter(isReachableOn)) {
      const pending = this.#pendingOn(link, asker.family)
      if (knows) pending.known(asker.address)
      if (probed) pending.defend(wanted)
      else pending.ask(wanted, { from: asker.address, moreToCome: query.flag_tc === true })
    }
  }

  onResponse(records: readonly DnsRecord[], from: string): void {
    const ad = this.#ad
    if (!ad || this.#isOurOwn(from) || !contradicts(records, this.#claim(ad))) return
    // We may have got a new address a moment ago, and heard of it from the system's own responder.
    this.#options.reading(true)
    if (this.#isOurOwn(from) || !contradicts(records, this.#claim(ad))) return
    this.#rename(ad)
  }

  #use(port: number): void {
    const { hostname, txt, hostTtlMs, serviceTtlMs, ports } = this.#options
    const names = serviceNames(hostname, port, this.#attempt)
    const hostTtl = Math.round(hostTtlMs / 1_000)
    this.#ad = { names, port, txt, hostTtl, serviceTtl: Math.round(serviceTtlMs / 1_000) }
    this.#named = false
    this.#probe(PROBES, ports.random() * PROBE_GAP_MS)
  }

  #probe(left: number, afterMs: number): void {
    this.#after(afterMs, () => {
      const ad = this.#ad
      if (!ad) return
      if (left === 0) return this.#established(ad)
      for (const link of this.#reachableLinks()) {
        const { srv, txt, addresses } = serviceRecords(ad, link)
        const authorities = [srv, txt, ...addresses].map(({ flush: _, ...record }) => record)
        const questions = [ad.names.instance, ad.names.host].map((name) => ({
          name,
          type: 'ANY',
          class: 'IN'
        }))
        this.#options.sender.toLink({ type: 'query', questions, authorities }, link)
      }
      this.#probe(left - 1, PROBE_GAP_MS)
    })
  }

  #established(ad: Advertisement): void {
    this.#named = true
    this.#options.onNamed({ label: ad.names.label, host: ad.names.host })
    this.#announce()
  }

  #announce(): void {
    this.#cancelAll()
    for (const afterMs of ANNOUNCE_AFTER_MS) {
      this.#after(afterMs, () => {
        for (const link of this.#reachableLinks()) {
          for (const family of FAMILIES) {
            this.#send(link, family, new Set(EVERYTHING))
            this.#pendingOn(link, family).sent(EVERYTHING)
          }
        }
      })
    }
  }

  #rename(ad: Advertisement): void {
    const nowMs = this.#options.clock.bootMs()
    this.#renamedMs = this.#renamedMs.filter((atMs) => nowMs - atMs < RENAMES_WITHIN_MS)
    if (this.#renamedMs.length >= MAX_RENAMES) {
      this.#options.onContested()
      return
    }
    this.#renamedMs.push(nowMs)
    this.#attempt++
    this.#cancelAll()
    this.#use(ad.port)
  }

  #answerLegacy(query: DnsMessage, to: { ad: Advertisement; wanted: Set<AnswerKind>; asker: Asker }): void {
    const { ad, wanted, asker } = to
    const link = asker.links.find(isReachableOn)
    if (!link || wanted.size === 0) return
    const strip = ({ flush: _, ...record }: DnsRecord) => ({ ...record, ttl: LEGACY_TTL })
    const { answers, additionals } = chosen(serviceRecords(ad, link), wanted)
    const reply = { ...response(answers.map(strip), additionals.map(strip)), id: query.id ?? 0 }
    const isOurs = (question: DnsQuestion) =>
      wantedAnswers({ ...query, questions: [question] }, ad.names).size > 0
    const questions = query.questions?.slice(0, MAX_ECHOED).filter(isOurs) ?? []
    this.#options.sender.toAsker({ ...reply, questions }, asker)
  }

  #send(link: Link, family: Family, kinds: ReadonlySet<AnswerKind>): void {
    if (!this.#ad) return
    const { answers, additionals } = chosen(serviceRecords(this.#ad, link), kinds)
    this.#options.sender.toLink(response(answers, additionals), link, family)
  }

  #pendingOn(link: Link, family: Family): PendingAnswers {
    const key = `${family} ${link.name}`
    const known = this.#pending.get(key)
    if (known) return known
    const { clock, ports } = this.#options
    const send = (kinds: ReadonlySet<AnswerKind>) => {
      const now = this.#options.reading().links.find(({ name }) => name === link.name)
      if (now && isReachableOn(now)) this.#send(now, family, kinds)
    }
    const pending = new PendingAnswers({ clock, random: ports.random, send })
    this.#pending.set(key, pending)
    return pending
  }

  #claim({ names, port, txt }: Advertisement): OurClaim {
    return { names, port, txt, addresses: this.#options.reading().addresses }
  }

  #isOurOwn(address: string): boolean {
    return this.#options.reading().addresses.has(plainAddress(address) ?? address)
  }

  #reachableLinks(): readonly Link[] {
    return this.#options.reading().links.filter(isReachableOn)
  }

  #after(delayMs: number, callback: () => void): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(cancel)
      callback()
    })
    this.#timers.add(cancel)
  }

  #cancelAll(): void {
    for (const cancel of this.#timers) cancel()
    this.#timers.clear()
    for (const pending of this.#pending.values()) pending.cancel()
    this.#pending.clear()
  }
}

/** The records asked for, and beside them those that will be asked for next. */
function chosen(
  records: ServiceRecords,
  kinds: ReadonlySet<AnswerKind>
): { answers: DnsRecord[]; additionals: DnsRecord[] } {
  const { ptr, srv, txt, addresses, types } = records
  const all: [AnswerKind, readonly DnsRecord[]][] = [
    ['types', [types]],
    ['ptr', [ptr]],
    ['srv', [srv]],
    ['txt', [txt]],
    ['addresses', addresses]
  ]
  const follow = new Set<AnswerKind>(
    kinds.has('ptr') ? ['srv', 'txt', 'addresses'] : kinds.has('srv') ? ['addresses'] : []
  )
  return {
    answers: all.flatMap(([kind, some]) => (kinds.has(kind) ? some : [])),
    additionals: all.flatMap(([kind, some]) => (!kinds.has(kind) && follow.has(kind) ? some : []))
  }
}

const response = (answers: readonly DnsRecord[], additionals: readonly DnsRecord[] = []): DnsMessage => ({
  type: 'response',
  flags: AUTHORITATIVE_FLAG,
  answers,
  additionals
})
