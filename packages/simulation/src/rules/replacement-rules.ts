/** When a lease may take the place of another: its holder dead or lapsed, nothing of it running, nobody else's turn (R1, R5, R12). */
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import { carriersOf } from './carriers.js'
import { mayTakeFromOlder } from './older-rules.js'
import type { LeaseText, Seat } from './seat.js'

/** Two processes may read the boot clock this far apart and still mean the same moment. */
const CLOCK_SLACK_MS = 15

/** Which process is an owner, and whether it ends what ran before. */
export interface Owner {
  readonly process: Process
  readonly endsPrevious: boolean
  readonly channel: string
  readonly version: string
}

export class ReplacementRules {
  readonly #world: World
  readonly #owners = new Map<string, Owner>()

  constructor(world: World) {
    this.#world = world
  }

  introduce(owner: string, who: Owner): void {
    this.#owners.set(owner, who)
  }

  replaces(process: Process, seat: Seat, { old, lease }: { old: LeaseText; lease: LeaseText }): void {
    const { host } = process
    const { history } = this.#world
    const sameOwner = old.owner === lease.owner
    if (sameOwner && old.block === lease.block) return
    if (lease.older) return
    const claim = seat.claims.get(old.claimId)
    if (old.older) {
      if (claim !== undefined) mayTakeFromOlder(this.#world, process, { uid: seat.uid, claim })
      return
    }
    const expired =
      old.bootId !== host.bootId || host.bootUs / 1_000 - old.renewedBootMs >= old.ttlMs - CLOCK_SLACK_MS
    const owner = host.processes.get(old.pid)
    const dead =
      old.bootId !== host.bootId || owner === undefined || !owner.alive || owner.startTicks !== old.startTicks
    if (!expired && !dead) {
      history.violate(
        'R1',
        `${process.label} takes ${seat.uid} from ${owner.label}, which lives and renewed it ${Math.round(host.bootUs / 1_000 - old.renewedBootMs)} ms ago`
      )
    }
    const [carrier] =
      this.#owners.get(lease.owner)?.endsPrevious === true ? carriersOf(host, old.claimId) : []
    if (carrier !== undefined) {
      history.violate(
        'R12',
        `${process.label} takes ${seat.uid} while pid ${carrier.pid} of the claim before still runs`
      )
    }
  }

  /** A hold placed before the claimer had the lock, it counts. */
  keptFor(process: Process, seat: Seat, lease: LeaseText): void {
    const { host } = process
    const owner = this.#owners.get(lease.owner)
    if (owner?.endsPrevious !== true || seat.heldForSinceUs >= seat.lockedUs) return
    const file = host.disk.find(`/home/u/shared/agents/registry/leases/${seat.uid}.hold`)
    if (file === undefined) return
    let hold: Record<string, unknown>
    try {
      hold = JSON.parse(file.data.toString('utf8')) as Record<string, unknown>
    } catch {
      return
    }
    const leftMs = Number(hold.until_boot_ms) - host.bootUs / 1_000
    if (hold.host_boot_id !== host.bootId || !(leftMs > CLOCK_SLACK_MS && leftMs <= 30_000)) return
    const isFor =
      hold.to_boot_id === ''
        ? hold.to_channel === owner.channel && hold.to_version === owner.version
        : hold.to_boot_id === lease.owner
    if (!isFor) {
      this.#world.history.violate(
        'R5',
        `${process.label} takes ${seat.uid}, which is kept for ${String(hold.to_channel)} for another ${Math.round(leftMs)} ms`
      )
    }
  }
}
