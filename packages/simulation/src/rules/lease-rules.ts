/** The rules that a lease file and what is said about it must keep: who may replace whom, epochs, releases, answers. */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import { carriersOf } from './carriers.js'
import { type Owner, ReplacementRules } from './replacement-rules.js'
import { type Claim, leaseIn, type Seat } from './seat.js'

export class LeaseRules {
  readonly #world: World
  readonly #replacement: ReplacementRules

  constructor(world: World) {
    this.#world = world
    this.#replacement = new ReplacementRules(world)
  }

  introduce(owner: string, who: Owner): void {
    this.#replacement.introduce(owner, who)
  }

  /** A file took the lease's name. */
  claimed(process: Process, seat: Seat, before: Buffer | undefined, after: Buffer) {
    const old = leaseIn(before)
    const lease = leaseIn(after)
    const { history, nowUs } = this.#world
    if (lease === undefined)
      return history.violate('R11', `${process.label} put an unreadable lease of ${seat.uid} in place`)
    const known = seat.claims.get(lease.claimId)
    if (known !== undefined) {
      // Put back because the claim after it could not be made durable.
      if (known.removed)
        history.violate('R2', `the claim ${short(lease.claimId)} of ${seat.uid} came back after its release`)
      if (old !== undefined) this.#close(seat, old.claimId)
      known.untilUs = Number.POSITIVE_INFINITY
      return
    }
    history.note(process.label, `claims ${seat.uid}: epoch ${lease.epoch}, claim ${short(lease.claimId)}`)
    this.#replacement.keptFor(process, seat, lease)
    if (old !== undefined) this.#replacement.replaces(process, seat, { old, lease })
    const again = old !== undefined && old.owner === lease.owner && old.block === lease.block
    if (lease.older) {
      const lost = old === undefined ? undefined : seat.claims.get(old.claimId)
      if (lost !== undefined) lost.lostToOlder = true
      // Its epochs are its own business: what it gives is not always on the disk.
    } else if (
      again ? lease.epoch < old.epoch : lease.epoch <= Math.max(seat.highestGranted, old?.epoch ?? 0)
    ) {
      history.violate(
        'R10',
        `${process.label} claims ${seat.uid} under epoch ${lease.epoch}, after ${Math.max(seat.highestGranted, old?.epoch ?? 0)}`
      )
    }
    if (old !== undefined) this.#close(seat, old.claimId)
    const claim: Claim = {
      lease,
      process,
      fromUs: nowUs,
      untilUs: Number.POSITIVE_INFINITY,
      writtenUs: nowUs,
      removed: false,
      lostToOlder: false
    }
    seat.claims.set(lease.claimId, claim)
  }

  /** In place: a renewal. */
  rewritten(process: Process, seat: Seat, after: Buffer) {
    const lease = leaseIn(after)
    const { history, nowUs } = this.#world
    if (lease === undefined) return
    const claim = seat.claims.get(lease.claimId)
    if (claim === undefined)
      return history.violate('R4', `${process.label} writes a claim of ${seat.uid} that nobody made`)
    if (claim.untilUs < nowUs) history.violate('R4', `${process.label} renews ${seat.uid} over a later claim`)
    if (lease.epoch !== claim.lease.epoch) {
      history.violate(
        'R10',
        `a renewal of ${seat.uid} changes the epoch from ${claim.lease.epoch} to ${lease.epoch}`
      )
    }
    if (claim.process !== process)
      history.violate('R4', `${process.label} renews the lease of ${claim.process.label}`)
    claim.writtenUs = nowUs
  }

  removed(process: Process, seat: Seat, data: Buffer): void {
    const lease = leaseIn(data)
    const { history } = this.#world
    if (lease === undefined) return
    history.note(process.label, `gives up ${seat.uid}: claim ${short(lease.claimId)}`)
    const claim = seat.claims.get(lease.claimId)
    if (claim !== undefined && claim.process !== process) {
      history.violate('R2', `${process.label} removes the lease of ${claim.process.label} for ${seat.uid}`)
    }
    const [carrier] = carriersOf(process.host, lease.claimId)
    if (carrier !== undefined) {
      history.violate('R12', `${process.label} gives up ${seat.uid} while pid ${carrier.pid} still drives it`)
    }
    this.#close(seat, lease.claimId)
    if (claim !== undefined) claim.removed = true
  }

  /** What a caller was told. `fromUs`: when it asked. */
  answered(process: Process, seat: Seat, answer: { what: string; claimId: string; fromUs: number }): void {
    const claim = seat.claims.get(answer.claimId)
    if (claim !== undefined && claim.untilUs >= answer.fromUs) return
    this.#world.history.violate(
      'R4',
      `${process.label} is told "${answer.what}" of claim ${short(answer.claimId)} for ${seat.uid}, which had been lost before it asked`
    )
  }

  granted(process: Process, seat: Seat, lease: { epoch: number; owner: string; block: string }): void {
    const whose = `${lease.owner} ${lease.block}`
    const before = seat.granted.get(lease.epoch)
    if (before !== undefined && before !== whose) {
      this.#world.history.violate(
        'R10',
        `${process.label} is granted epoch ${lease.epoch} of ${seat.uid}, which somebody had before`
      )
    }
    seat.granted.set(lease.epoch, whose)
    seat.highestGranted = Math.max(seat.highestGranted, lease.epoch)
  }

  held(seat: Seat): void {
    seat.heldForSinceUs = this.#world.nowUs
  }

  powerLost(host: Host, seat: Seat): void {
    const now = leaseIn(host.disk.find(`/home/u/shared/agents/registry/leases/${seat.uid}.lease.json`)?.data)
    for (const claim of seat.claims.values()) {
      if (claim.lease.claimId === now?.claimId) {
        claim.untilUs = Number.POSITIVE_INFINITY
        claim.removed = false
      } else claim.untilUs = Math.min(claim.untilUs, this.#world.nowUs)
    }
  }

  #close(seat: Seat, claimId: string): void {
    const claim = seat.claims.get(claimId)
    if (claim !== undefined) claim.untilUs = Math.min(claim.untilUs, this.#world.nowUs)
  }
}

export function short(claimId: string): string {
  return claimId.slice(0, 8)
}
