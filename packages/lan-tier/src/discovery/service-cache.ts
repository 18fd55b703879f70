/**
 * Puts a peer together from the records that one sender has sent, in one packet or several. Records of different
 * senders are never mixed: two computers of one name, and whoever copies a name, stay apart. What is kept is bounded,
 * fairly between senders; a peer that was put together does not need it any more.
 */
import { ipv4First, isNearby, isReachableHost, plainAddress } from '../peers/address-kinds.js'
import { FairMap } from '../peers/fair-map.js'
import { acceptClaim, type PeerClaim } from '../peers/peer-claim.js'
import { type DnsRecord, sameName } from './dns-message.js'
import { labelOf, SERVICE } from './service-names.js'
import { decodeTxt, type TxtValues } from './txt-record.js'

export interface CachedService {
  readonly label: string
  readonly source: string
  srv?: { readonly target: string; readonly port: number }
  txt: Partial<TxtValues>
  /** Seconds, of each type of record. */
  readonly ttls: Map<string, number>
  lastMs: number
  ptr?: { readonly ttl: number; readonly atMs: number }
}

export interface FoundService {
  readonly service: CachedService
  readonly claim: PeerClaim
  /** Believable ones, best first; not empty. */
  readonly addresses: readonly string[]
}

export interface CacheAnswer {
  readonly found: readonly FoundService[]
  /** Taken back by their sender. */
  readonly withdrawn: readonly CachedService[]
  /** What is still to be asked before a peer is complete. */
  readonly missing: readonly { readonly name: string; readonly type: string }[]
}

const SERVICE_LIMITS = { total: 2_048, perSource: 256, whenSourceFull: 'drop-oldest' } as const
const HOST_LIMITS = { total: 2_048, perSource: 64, whenSourceFull: 'drop-oldest' } as const
const MAX_ADDRESSES = 16
/** What has not been heard of for so long is forgotten here; the table of peers has its own time. */
const FORGET_AFTER_MS = 9_000_000

export interface ServiceCacheOptions {
  readonly nowMs: () => number
  /** Whether an address lies on a link of ours: then it is believed though it is a public one. */
  readonly isOnLink: (address: string) => boolean
}

export class ServiceCache {
  readonly #options: ServiceCacheOptions
  readonly #services = new FairMap<CachedService>(SERVICE_LIMITS)
  readonly #hosts = new FairMap<{ A: string[]; AAAA: string[] }>(HOST_LIMITS)

  constructor(options: ServiceCacheOptions) {
    this.#options = options
  }

  /** Takes in the records of one packet; `source` is who sent it, plain. */
  take(records: readonly DnsRecord[], source: string): CacheAnswer {
    const touched = new Map<string, CachedService>()
    const withdrawn = new Map<string, CachedService>()
    this.#takeAddresses(records, source)
    for (const record of records) {
      const label = record.type === 'PTR' ? ptrLabel(record) : labelOf(record.name)
      if (label === undefined) continue
      if (record.ttl === 0) {
        const known = this.#services.get(keyOf(label, source))
        if (known) withdrawn.set(label.toLowerCase(), known)
        continue
      }
      const service = this.#takeRecord(record, { label, source })
      if (service) touched.set(label.toLowerCase(), service)
    }
    for (const { label } of withdrawn.values()) {
      touched.delete(label.toLowerCase())
      this.#services.delete(keyOf(label, source))
    }
    return { ...this.#assemble(touched.values()), withdrawn: [...withdrawn.values()] }
  }

  /** Services that somebody has announced, for the known answers of a query. */
  services(): Iterable<CachedService> {
    return this.#services.values()
  }

  /** The same, put together anew after addresses came in on their own. */
  reassemble(source: string, hosts: ReadonlySet<string>): readonly FoundService[] {
    const waiting: CachedService[] = []
    for (const service of this.#services.values()) {
      if (service.source === source && service.srv && hosts.has(service.srv.target.toLowerCase())) {
        waiting.push(service)
      }
    }
    return this.#assemble(waiting).found
  }

  prune(): void {
    const nowMs = this.#options.nowMs()
    for (const [key, { lastMs }] of [...this.#services.entries()]) {
      if (nowMs - lastMs > FORGET_AFTER_MS) this.#services.delete(key)
    }
  }

  clear(): void {
    this.#services.clear()
    this.#hosts.clear()
  }

  /** The claim of a service, complete or not. */
  claimOf({ srv, txt }: CachedService): PeerClaim | undefined {
    return acceptClaim({
      instanceId: txt.instance_id,
      hostname: txt.hostname,
      version: txt.version,
      channel: txt.channel,
      authKey: txt.auth_key,
      port: srv?.port
    })
  }

  #takeRecord(record: DnsRecord, of: { label: string; source: string }): CachedService | undefined {
    const key = keyOf(of.label, of.source)
    const service: CachedService = this.#services.get(key) ?? { ...of, txt: {}, ttls: new Map(), lastMs: 0 }
    const ttl = typeof record.ttl === 'number' ? record.ttl : 0
    if (record.type === 'PTR') service.ptr = { ttl, atMs: this.#options.nowMs() }
    else if (record.type === 'TXT') service.txt = { ...service.txt, ...decodeTxt(record.data) }
    else if (record.type === 'SRV') {
      const srv = srvData(record.data)
      if (!srv) return undefined
      service.srv = srv
    } else return undefined
    service.ttls.set(record.type, ttl)
    service.lastMs = this.#options.nowMs()
    return this.#services.set(key, service, of.source) ? service : undefined
  }

  #takeAddresses(records: readonly DnsRecord[], source: string): void {
    const fresh = new Map<string, { A?: string[]; AAAA?: string[] }>()
    for (const { name, type, ttl, data } of records) {
      if ((type !== 'A' && type !== 'AAAA') || ttl === 0 || typeof data !== 'string') continue
      const host = fresh.get(name.toLowerCase()) ?? {}
      const addresses = host[type] ?? []
      host[type] = addresses
      const address = plainAddress(data)
      if (address && addresses.length < MAX_ADDRESSES) addresses.push(address)
      fresh.set(name.toLowerCase(), host)
    }
    for (const [host, addresses] of fresh) {
      const key = keyOf(host, source)
      const known = this.#hosts.get(key) ?? { A: [], AAAA: [] }
      this.#hosts.set(key, { ...known, ...addresses }, source)
    }
  }

  #assemble(services: Iterable<CachedService>): Pick<CacheAnswer, 'found' | 'missing'> {
    const found: FoundService[] = []
    const missing: { name: string; type: string }[] = []
    for (const service of services) {
      const name = `${service.label}.${SERVICE}`
      if (!service.srv) missing.push({ name, type: 'SRV' })
      if (service.txt.instance_id === undefined) missing.push({ name, type: 'TXT' })
      const addresses = service.srv ? this.#addressesOf(service.srv.target, service.source) : []
      if (service.srv && addresses.length === 0) {
        missing.push({ name: service.srv.target, type: 'A' }, { name: service.srv.target, type: 'AAAA' })
      }
      const claim = this.claimOf(service)
      if (claim && addresses.length > 0) found.push({ service, claim, addresses })
    }
    return { found, missing }
  }

  /** A stranger may not send our questions across the internet, nor back to ourselves. */
  #addressesOf(target: string, source: string): string[] {
    const known = this.#hosts.get(keyOf(target, source))
    const all = [...new Set([...(known?.A ?? []), ...(known?.AAAA ?? [])])]
    const believed = all.filter(
      (address) =>
        isReachableHost(address) &&
        (address === source || isNearby(address) || this.#options.isOnLink(address))
    )
    return ipv4First([...believed.filter((a) => a === source), ...believed.filter((a) => a !== source)])
  }
}

const keyOf = (name: string, source: string): string => `${source} ${name.toLowerCase()}`

const ptrLabel = ({ name, data }: DnsRecord): string | undefined =>
  sameName(name, SERVICE) && typeof data === 'string' ? labelOf(data) : undefined

function srvData(data: unknown): { target: string; port: number } | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const { target, port } = data as { target?: unknown; port?: unknown }
  if (typeof target !== 'string' || typeof port !== 'number' || !isAskable(target)) return undefined
  return { target, port }
}

/** A name that goes out again as it came in. */
const isAskable = (name: string): boolean =>
  name.length > 0 &&
  !name.includes('\ufffd') &&
  Buffer.byteLength(name) <= 253 &&
  name.split('.').every((label) => label !== '' && Buffer.byteLength(label) <= 63)
