/** What keeps an agent from somebody ends in time (R3): a lease with its TTL, to the millisecond; a hold after 30 s. */
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import { leaseIn, type Seat } from './seat.js'

const HOLD_US = 30_000_000
/** Clocks drift, and two readings of one may be a hundredth of a second apart. */
const SLACK_US = 100_000

export class RefusalRules {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /**
   * A store refused a claim. `bootMs`: what its own clock said before it was asked, so that the lease had lapsed by the very
   * clock that the store judges by, if it had by this.
   */
  turnedAway(process: Process, seat: Seat, { bootMs, fromUs }: { bootMs: number; fromUs: number }): void {
    const { host } = process
    const lease = leaseIn(
      host.disk.find(`/home/u/shared/agents/registry/leases/${seat.uid}.lease.json`)?.data
    )
    if (lease === undefined || lease.bootId !== host.bootId) return
    const claim = seat.claims.get(lease.claimId)
    if (claim === undefined || claim.writtenUs >= fromUs || claim.fromUs >= fromUs) return
    const ageMs = bootMs - lease.renewedBootMs
    if (ageMs < lease.ttlMs) return
    this.#world.history.violate(
      'R3',
      `${process.label} is refused ${seat.uid} for a lease that was ${ageMs} ms old when it asked`
    )
  }

  /** Somebody who asked at `fromUs` was told that the agent is kept for another. */
  keptAway(process: Process, seat: Seat, fromUs: number): void {
    const keptUs = fromUs - seat.heldForSinceUs
    if (keptUs <= HOLD_US + SLACK_US) return
    this.#world.history.violate(
      'R3',
      `${process.label} is refused ${seat.uid}, kept for another for ${Math.round(keptUs / 1_000)} ms by then`
    )
  }
}
