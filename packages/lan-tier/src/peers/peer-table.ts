/**
 * The live peers: bounded in number, fair between senders, each kept until it has not been seen for the time its own
 * TTL allows. Nothing removes a peer but that time or a newer claim of the same sender about the same instance. It is a
 * list of whom to ask; that a peer is in it proves nothing.
 */
import type { Clock } from '@agentmux/lease-model'
import { ipv4First } from './address-kinds.js'
import { FairMap } from './fair-map.js'
import type { Peer } from './peer.js'
import type { PeerClaim } from './peer-claim.js'

/** 500 peers fit, with as much again to spare; one sender (a computer with many instances) may bring 128. */
export const PEER_LIMITS = { total: 1_024, perSource: 128, byProbe: 64, addresses: 8, sources: 8 } as const

export interface PeerTableTimings {
  /** A peer's own TTL counts within these. */
  readonly minTtlMs: number
  readonly maxTtlMs: number
  /** Longer without a `tick` means that this process did not run. */
  readonly gapMs: number
  /** Whoever was live when the process stopped gets this long to be seen again. */
  readonly afterGapMs: number
}

export const PEER_TABLE_TIMINGS: PeerTableTimings = {
  minTtlMs: 300_000,
  maxTtlMs: 9_000_000,
  gapMs: 60_000,
  afterGapMs: 30_000
}

export interface PeerSighting {
  readonly claim: PeerClaim
  /** Where the peer is, best first; not empty. */
  readonly addresses: readonly string[]
  /** Who said so. */
  readonly source: string
  /** What the peer's own records say; an answer to a probe says nothing. */
  readonly ttlMs?: number
}

export interface PeerDeadline {
  /** As `peerKey` says. */
  readonly key: string
  readonly lastSeenMs: number
  readonly expiresMs: number
  /** Only the UDP probe tells of it. */
  readonly byProbe: boolean
}

export type PeerChange = { readonly kind: 'seen' | 'changed' | 'gone'; readonly peer: Peer }

interface Row {
  peer: Peer
  /** What each sender says of where it is, who spoke last at the end. */
  readonly sources: Map<string, { readonly addresses: readonly string[]; readonly atMs: number }>
  /** Undefined: only answers to our probes told of it. */
  ttlMs: number | undefined
}

export interface PeerTableOptions {
  readonly clock: Clock
  readonly timings?: PeerTableTimings
}

export class PeerTable {
  readonly #clock: Clock
  readonly #timings: PeerTableTimings
  readonly #rows = new FairMap<Row>(PEER_LIMITS, (key, row) => this.#dropped(key, row))
  /** Keys of the rows of one instance id and port. */
  readonly #named = new Map<string, Set<string>>()
  #byProbe = 0
  readonly #listeners = new Set<(change: PeerChange) => void>()
  #lastTickMs: number
  #grace: { readonly stoppedMs: number; readonly untilMs: number } | undefined

  constructor({ clock, timings = PEER_TABLE_TIMINGS }: PeerTableOptions) {
    this.#clock = clock
    this.#timings = timings
    this.#lastTickMs = clock.bootMs()
  }

  /** Live peers, not expired, not ourselves. The same instance id twice means that two senders claim it. */
  list(): readonly Peer[] {
    this.tick()
    return [...this.#rows.values()].map((row) => row.peer)
  }

  get size(): number {
    return this.#rows.size
  }

  /** Called for each change, after it; a listener that throws is the caller's own fault. Returns how to stop. */
  subscribe(listener: (change: PeerChange) => void): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Takes in what a sender says; `refused` if there is no room for it. */
  saw(sighting: PeerSighting): 'seen' | 'known' | 'refused' {
    const row = this.#rowOf(sighting.claim, sighting.source)
    if (row === undefined) return this.#add(sighting)
    const { claim, source } = sighting
    const before = row.peer
    if (!row.sources.has(source)) this.#supersede(claim, source)
    if (row.ttlMs === undefined && sighting.ttlMs !== undefined) this.#byProbe--
    row.ttlMs = sighting.ttlMs ?? row.ttlMs
    const nowMs = this.#clock.bootMs()
    row.sources.delete(source)
    row.sources.set(source, { addresses: sighting.addresses, atMs: nowMs })
    for (const [sender, { atMs }] of row.sources) {
      if (nowMs - atMs > this.#ttlOf(row) || row.sources.size > PEER_LIMITS.sources)
        row.sources.delete(sender)
    }
    row.peer = {
      ...before,
      hostname: claim.hostname || before.hostname,
      version: claim.version || before.version,
      channel: claim.channel || before.channel,
      ...placed(row, before.address),
      lastSeenMs: nowMs
    }
    if (differs(before, row.peer)) this.#tell({ kind: 'changed', peer: row.peer })
    return 'known'
  }

  /** The sender took it back. It stays, but only as long as a peer with the shortest TTL. */
  withdrawn(claim: PeerClaim, source: string): void {
    const row = this.#rowOf(claim, source)
    if (row?.sources.has(source) && row.ttlMs !== undefined) row.ttlMs = 0
  }

  /** Drops what has expired. To be called regularly: a long pause between two calls means that we did not run. */
  tick(): void {
    const nowMs = this.#clock.bootMs()
    const { gapMs, afterGapMs } = this.#timings
    if (nowMs - this.#lastTickMs > gapMs) {
      this.#grace = { stoppedMs: this.#lastTickMs, untilMs: nowMs + afterGapMs }
    }
    this.#lastTickMs = nowMs
    if (this.#grace && nowMs >= this.#grace.untilMs) this.#grace = undefined
    const judgedAtMs = this.#grace?.stoppedMs ?? nowMs
    for (const [key, row] of [...this.#rows.entries()]) {
      if (judgedAtMs - row.peer.lastSeenMs <= this.#ttlOf(row)) continue
      this.#rows.delete(key)
      this.#dropped(key, row)
    }
  }

  /** When each peer has to be seen again: the moments at which it was last seen and at which it expires. */
  *deadlines(): Generator<PeerDeadline> {
    for (const [key, row] of this.#rows.entries()) {
      const { lastSeenMs } = row.peer
      yield { key, lastSeenMs, expiresMs: lastSeenMs + this.#ttlOf(row), byProbe: row.ttlMs === undefined }
    }
  }

  #ttlOf(row: Row): number {
    const { minTtlMs, maxTtlMs } = this.#timings
    return Math.min(maxTtlMs, Math.max(minTtlMs, row.ttlMs ?? 0))
  }

  #rowOf(claim: PeerClaim, source: string): Row | undefined {
    const row = this.#rows.get(peerKey(claim))
    if (row || claim.authKey !== '') return row
    // An empty key erases nothing: the sender means the instance that it named before.
    return this.#rowsNamedBy(claim, source)[0]?.[1]
  }

  #rowsNamedBy({ instanceId, port }: PeerClaim, source: string): [string, Row][] {
    const rows: [string, Row][] = []
    for (const key of this.#named.get(nameOf(instanceId, port)) ?? []) {
      const row = this.#rows.get(key)
      if (row?.sources.has(source)) rows.push([key, row])
    }
    return rows
  }

  #add({ claim, source, addresses, ttlMs }: PeerSighting): 'seen' | 'refused' {
    this.#supersede(claim, source)
    if (ttlMs === undefined && this.#byProbe >= PEER_LIMITS.byProbe) return 'refused'
    const nowMs = this.#clock.bootMs()
    const row = { sources: new Map([[source, { addresses, atMs: nowMs }]]), ttlMs }
    const peer: Peer = {
      ...claim,
      ...placed(row, ''),
      agents: [],
      firstSeenMs: nowMs,
      lastSeenMs: nowMs
    }
    if (!this.#rows.set(peerKey(claim), { ...row, peer }, source)) return 'refused'
    const name = nameOf(peer.instanceId, peer.port)
    this.#named.set(name, (this.#named.get(name) ?? new Set()).add(peerKey(claim)))
    if (ttlMs === undefined) this.#byProbe++
    this.#tell({ kind: 'seen', peer })
    return 'seen'
  }

  /** An instance that was started again has a new key: its old row goes, once nobody else vouches for it. */
  #supersede(claim: PeerClaim, source: string): void {
    const newest = peerKey(claim)
    for (const [key, row] of this.#rowsNamedBy(claim, source)) {
      if (key === newest) continue
      row.sources.delete(source)
      if (row.sources.size > 0) continue
      this.#rows.delete(key)
      this.#dropped(key, row)
    }
  }

  #dropped(key: string, row: Row): void {
    const name = nameOf(row.peer.instanceId, row.peer.port)
    const keys = this.#named.get(name)
    keys?.delete(key)
    if (keys?.size === 0) this.#named.delete(name)
    if (row.ttlMs === undefined) this.#byProbe--
    this.#tell({ kind: 'gone', peer: row.peer })
  }

  #tell(change: PeerChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

const nameOf = (instanceId: string, port: number): string => `${port} ${instanceId}`

/** Another key is another row, so that nobody replaces a peer by naming it. */
export const peerKey = ({ instanceId, port, authKey }: PeerClaim): string =>
  JSON.stringify([instanceId, port, authKey])

/**
 * Whoever spoke last knows best: after a change of address the old one comes last until its sender is forgotten. The
 * address that was used so far stays the first one while the last speaker still names it.
 */
function placed({ sources }: Pick<Row, 'sources'>, used: string): Pick<Peer, 'address' | 'addresses'> {
  const [latest = [], ...earlier] = [...sources.values()].map(({ addresses }) => addresses).reverse()
  const first = latest.includes(used) ? [used] : []
  const all = ipv4First([...new Set([...first, ...latest, ...earlier.flat()])]).slice(
    0,
    PEER_LIMITS.addresses
  )
  return { address: all[0] ?? '', addresses: all }
}

function differs(a: Peer, b: Peer): boolean {
  const shown = ({ lastSeenMs: _, ...rest }: Peer) => JSON.stringify(rest)
  return shown(a) !== shown(b)
}
