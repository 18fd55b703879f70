/**
 * The rules of giving way on a LAN (R2): whoever stays by the rule for all that it has seen does not yield, nobody yields to who
 * began ten seconds later or has gone, and yields never go in a circle, whatever the network loses.
 */
import { createHash } from 'node:crypto'
import type { Process } from '../kernel/process.js'
import type { Computers } from './computers.js'
import { short } from './lease-rules.js'
import type { Claim } from './seat.js'
import { stays } from './tie-break.js'

/** Starts closer than this are simultaneous, by the protocol. */
const SIMULTANEOUS_MS = 10_000
/** The answer that somebody still drives it is no older than a question takes, and a busy computer needs. */
const ANSWER_GOOD_FOR_US = 2_500_000

export interface Looked {
  readonly fromUs: number
  readonly atEverybody: boolean
  /** Somebody was silent and is asked once more: this was half a look. */
  readonly again: boolean
  readonly seen: readonly string[]
}

export class LanRules {
  readonly #computers: Computers
  /** What each process saw in its last look at everybody, by agent. */
  readonly #looks = new Map<Process, Map<string, { seen: Set<string>; again: boolean }>>()
  /** Claims, by their hashes, and where they are. */
  readonly #claims = new Map<string, { claim: Claim; host: string }>()
  /** Who has yielded to whom: claims, by their hashes. */
  readonly #yielded = new Map<string, string>()
  /** When somebody last closed, took or was killed: a yield to somebody who has gone since is nobody's fault. */
  readonly #lastMoveUs = new Map<string, number>()

  constructor(computers: Computers) {
    this.#computers = computers
  }

  moved(uid: string): void {
    this.#lastMoveUs.set(uid, this.#computers.world.nowUs)
  }

  looked(process: Process, uid: string, { atEverybody, again, seen }: Looked): void {
    const looks = this.#looks.get(process) ?? new Map()
    this.#looks.set(process, looks)
    const last = looks.get(uid)
    if (atEverybody) looks.set(uid, { seen: new Set(seen), again })
    else if (last?.again === true) looks.set(uid, { seen: new Set([...last.seen, ...seen]), again: false })
  }

  yielded(process: Process, uid: string, { to, claim }: { to: string; claim: string }): void {
    const mine = this.#computers.claimOf(process.host, uid)
    this.#learnClaims(uid)
    if (mine?.process === process) {
      this.#yieldsThoughItStays(process, uid, mine)
      this.#yieldsInACircle(process, uid, { mine, claim })
      this.#yieldsToLater(process, uid, { mine, to })
    }
    this.#yieldsToWhoHasGone(process, uid, { to, claim })
    this.#leavesNobody(process, uid, to)
  }

  /** By the whole set that it has seen it is the one to stay. */
  #yieldsThoughItStays(process: Process, uid: string, mine: Claim): void {
    const seen = [...(this.#looks.get(process)?.get(uid)?.seen ?? [])]
    const others = seen.map((hash) => this.#claims.get(hash))
    if (others.length === 0 || others.includes(undefined)) return
    const contender = (claim: Claim, host: string) => ({ atMs: claim.lease.acquiredAtMs, host })
    const me = contender(mine, process.host.name)
    const set = others.flatMap((other) => (other === undefined ? [] : [contender(other.claim, other.host)]))
    if (!stays(me, set)) return
    this.#violate(
      `${process.label} yields ${uid}, although among ${set.map(({ host }) => host).join(', ')} and itself it is the one to stay`
    )
  }

  /** Whoever is about to yield says so, and nobody yields to it: so one of any circle stays. */
  #yieldsInACircle(process: Process, uid: string, { mine, claim }: { mine: Claim; claim: string }): void {
    if (claim === '') return
    const own = hashOf(mine.lease.claimId)
    this.#yielded.set(own, claim)
    for (let next: string | undefined = claim, steps = 0; next !== undefined && steps < 64; steps++) {
      if (next === own) {
        const who = this.#claims.get(claim)?.host ?? short(claim)
        this.#violate(`${process.label} yields ${uid} to ${who}, which has yielded for its sake`)
        return
      }
      next = this.#yielded.get(next)
    }
  }

  /** Whoever starts ten seconds or more before another keeps the agent, however many others there are. */
  #yieldsToLater(process: Process, uid: string, { mine, to }: { mine: Claim; to: string }): void {
    const target = this.#computers.hosts.find(({ name }) => name === to)
    const theirs = target && this.#computers.claimOf(target, uid)
    if (theirs === undefined) return
    const earlierMs = theirs.lease.acquiredAtMs - mine.lease.acquiredAtMs
    if (earlierMs < SIMULTANEOUS_MS) return
    this.#violate(`${process.label} yields ${uid} to ${to}, which began ${Math.round(earlierMs)} ms after it`)
  }

  #yieldsToWhoHasGone(process: Process, uid: string, { to, claim }: { to: string; claim: string }): void {
    const { nowUs } = this.#computers.world
    const theirs = this.#claims.get(claim)?.claim
    const goneForUs = theirs === undefined ? 0 : nowUs - theirs.untilUs
    if (goneForUs <= ANSWER_GOOD_FOR_US || this.#heldUp(process, nowUs - 10_000_000)) return
    this.#violate(
      `${process.label} yields ${uid} to ${to}, which had given it up ${Math.round(goneForUs / 1_000)} ms before`
    )
  }

  #leavesNobody(process: Process, uid: string, to: string): void {
    const { hosts, world, seatOf } = this.#computers
    const left = hosts.some(
      (host) =>
        host !== process.host &&
        [...seatOf(host, uid).claims.values()].some(({ untilUs }) => untilUs > world.nowUs - 3_000_000)
    )
    if (left) return
    const sinceUs = world.nowUs - 20_000_000
    const quiet =
      (this.#lastMoveUs.get(uid) ?? 0) < sinceUs &&
      this.#computers.quietSinceUs(hosts, { network: false }) < sinceUs
    if (quiet) this.#violate(`${process.label} yields ${uid} to ${to}, and nobody is left that drives it`)
  }

  #heldUp({ host, heldUpUntilUs, starvedUntilUs }: Process, sinceUs: number): boolean {
    return Math.max(heldUpUntilUs, starvedUntilUs, host.disturbedUs, host.disk.stuckUntilUs) >= sinceUs
  }

  #learnClaims(uid: string): void {
    const { hosts, seatOf } = this.#computers
    for (const host of hosts) {
      for (const claim of seatOf(host, uid).claims.values()) {
        const hash = hashOf(claim.lease.claimId)
        if (!this.#claims.has(hash)) this.#claims.set(hash, { claim, host: host.name })
      }
    }
  }

  #violate(what: string): void {
    this.#computers.world.history.violate('R2', what)
  }
}

function hashOf(claimId: string): string {
  return createHash('sha256').update(claimId).digest('hex')
}
