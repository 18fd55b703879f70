/** The rules for what drives an agent: never two of different claims on one host, and none that its holder cannot confirm. */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import { carriersOf } from './carriers.js'
import { short } from './lease-rules.js'
import { leaseIn, type Seat } from './seat.js'

/** SIGKILL after the last good renewal, by the protocol. */
const KILLED_AFTER_US = 13_000_000
/** A tick of the watchdog, the signal's way, a busy machine. */
const SLACK_US = 1_500_000

export class DriverRules {
  readonly #world: World
  readonly #seatOf = new Map<Process, Seat>()
  readonly #hostsDriving = new Map<string, Map<Host, number>>()

  constructor(world: World) {
    this.#world = world
  }

  /** `forked`: by what drives the agent already, not by the holder. */
  started(child: Process, seat: Seat, { claimId, forked }: { claimId: string; forked: boolean }): void {
    const { history } = this.#world
    history.note(child.label, `pid ${child.pid} begins to drive ${seat.uid} under claim ${short(claimId)}`)
    for (const [other, carried] of seat.drivers) {
      if (carried === claimId || !other.alive || isOlder(seat, claimId) || isOlder(seat, carried)) continue
      history.violate(
        'R1',
        `pid ${child.pid} begins to drive ${seat.uid} while pid ${other.pid} of claim ${short(carried)} drives it`
      )
    }
    const claim = seat.claims.get(claimId)
    if (!forked && !isOlder(seat, claimId) && (claim === undefined || claim.untilUs < this.#world.nowUs)) {
      history.violate(
        'R4',
        `pid ${child.pid} is started for ${seat.uid} under claim ${short(claimId)}, which is lost`
      )
    }
    seat.drivers.set(child, claimId)
    this.#seatOf.set(child, seat)
    this.#count(seat.uid, child.host, 1)
  }

  /** On how many hosts something drives an agent. */
  hostsDriving(uid: string): number {
    return this.#hostsDriving.get(uid)?.size ?? 0
  }

  #count(uid: string, host: Host, by: 1 | -1): void {
    const counts = this.#hostsDriving.get(uid) ?? new Map<Host, number>()
    this.#hostsDriving.set(uid, counts)
    const count = (counts.get(host) ?? 0) + by
    if (count > 0) counts.set(host, count)
    else counts.delete(host)
  }

  exited(process: Process): void {
    const seat = this.#seatOf.get(process)
    if (seat === undefined) return
    this.#world.history.note(process.label, `pid ${process.pid} has ended`)
    seat.drivers.delete(process)
    this.#seatOf.delete(process)
    this.#count(seat.uid, process.host, -1)
  }

  /** The lease was written: from now on the deadline of its holder counts (R13). */
  confirmed(seat: Seat, data: Buffer): void {
    const lease = leaseIn(data)
    const claim = lease && seat.claims.get(lease.claimId)
    if (lease === undefined || claim === undefined) return
    const writtenUs = this.#world.nowUs
    claim.writtenUs = writtenUs
    this.#world.after(KILLED_AFTER_US + SLACK_US, () => {
      if (claim.writtenUs !== writtenUs || !claim.process.alive || claim.process.stopped) return
      const { host, heldUpUntilUs, starvedUntilUs } = claim.process
      if (Math.max(heldUpUntilUs, starvedUntilUs, host.disturbedUs) >= writtenUs || host.asleep) return
      const [carrier] = carriersOf(host, lease.claimId)
      if (carrier !== undefined) {
        this.#world.history.violate(
          'R13',
          `pid ${carrier.pid} still drives ${seat.uid}, 14.5 s after ${claim.process.label} last confirmed its lease`
        )
      }
    })
  }
}

/** What an older build may do beside others, and whoever comes after it beside whom it took the agent from, has rules of its own. */
function isOlder(seat: Seat, claimId: string): boolean {
  const claim = seat.claims.get(claimId)
  return claim?.lease.older === true || claim?.lostToOlder === true
}
