/** The rules for what drives an agent: never two of different claims on one host, and none that its holder cannot confirm. */
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

  constructor(world: World) {
    this.#world = world
  }

  /** `forked`: by what drives the agent already, not by the holder. */
  started(child: Process, seat: Seat, { claimId, forked }: { claimId: string; forked: boolean }): void {
    const { history } = this.#world
    history.note(child.label, `pid ${child.pid} begins to drive ${seat.uid} under claim ${short(claimId)}`)
    for (const [other, carried] of seat.drivers) {
      if (carried === claimId || !other.alive) continue
      history.violate(
        'R1',
        `pid ${child.pid} begins to drive ${seat.uid} while pid ${other.pid} of claim ${short(carried)} drives it`
      )
    }
    const claim = seat.claims.get(claimId)
    if (!forked && (claim === undefined || claim.untilUs < this.#world.nowUs)) {
      history.violate(
        'R4',
        `pid ${child.pid} is started for ${seat.uid} under claim ${short(claimId)}, which is lost`
      )
    }
    seat.drivers.set(child, claimId)
    this.#seatOf.set(child, seat)
  }

  exited(process: Process): void {
    const seat = this.#seatOf.get(process)
    if (seat === undefined) return
    this.#world.history.note(process.label, `pid ${process.pid} has ended`)
    seat.drivers.delete(process)
    this.#seatOf.delete(process)
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
