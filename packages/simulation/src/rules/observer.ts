/**
 * Sees everything that happens in a world, from outside, and holds it against the rules: on the disks, among the processes,
 * in what callers were told. It knows nothing of how the packages work, only what they have promised.
 */
import type { Inode, OpenFile } from '../disk/inode.js'
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import { DriverRules } from './driver-rules.js'
import { LeaseRules } from './lease-rules.js'
import { RecordRules } from './record-rules.js'
import { RefusalRules } from './refusal-rules.js'
import { Seat } from './seat.js'

const LEASE = /\/leases\/([^/]+)\.lease\.json$/
const LOCK = /\/leases\/([^/]+)\.lock$/
const HOLD = /\/leases\/([^/]+)\.hold$/
const SEGMENT = /\/records\/([^/]+)\/\d{16}\.jsonl$/
const COUNTER = /\/records\/([^/]+)\/epoch$/

export class Observer {
  readonly world: World
  readonly leases: LeaseRules
  readonly drivers: DriverRules
  readonly refusals: RefusalRules
  readonly #record: RecordRules
  readonly #seats = new Map<Host, Map<string, Seat>>()

  constructor(world: World) {
    this.world = world
    this.leases = new LeaseRules(world)
    this.drivers = new DriverRules(world)
    this.refusals = new RefusalRules(world)
    this.#record = new RecordRules(world)
  }

  seat(host: Host, uid: string): Seat {
    let seats = this.#seats.get(host)
    if (seats === undefined) {
      seats = new Map()
      this.#seats.set(host, seats)
    }
    let seat = seats.get(uid)
    if (seat === undefined) {
      seat = new Seat(uid)
      seats.set(uid, seat)
    }
    return seat
  }

  seatsOf(host: Host): Iterable<Seat> {
    return this.#seats.get(host)?.values() ?? []
  }

  locked(process: Process, file: OpenFile): void {
    const uid = LOCK.exec(file.path)?.[1]
    if (uid !== undefined) this.seat(process.host, uid).lockedUs = this.world.nowUs
  }

  written(process: Process, file: OpenFile, part: Buffer): void {
    const { host } = process
    const leaseOf = LEASE.exec(file.path)?.[1]
    if (leaseOf !== undefined && host.disk.find(file.path) === file.inode) {
      const seat = this.seat(host, leaseOf)
      this.leases.rewritten(process, seat, file.inode.data)
      this.drivers.confirmed(seat, file.inode.data)
    }
    const recordOf = SEGMENT.exec(file.path)?.[1]
    if (recordOf !== undefined) this.#record.appended(process, this.seat(host, recordOf), part)
  }

  replaced(process: Process, path: string, before: Inode | undefined, after: Inode): void {
    const { host } = process
    const leaseOf = LEASE.exec(path)?.[1]
    if (leaseOf !== undefined) {
      const seat = this.seat(host, leaseOf)
      this.leases.claimed(process, seat, before?.data, after.data)
      this.drivers.confirmed(seat, after.data)
    }
    const counterOf = COUNTER.exec(path)?.[1]
    if (counterOf !== undefined) this.#record.counted(this.seat(host, counterOf), after.data)
    const holdOf = HOLD.exec(path)?.[1]
    if (holdOf !== undefined) this.leases.held(this.seat(host, holdOf))
  }

  removed(process: Process, path: string, inode: Inode): void {
    const leaseOf = LEASE.exec(path)?.[1]
    if (leaseOf !== undefined) this.leases.removed(process, this.seat(process.host, leaseOf), inode.data)
  }

  signalled(by: Process, to: Process, signal: string): void {
    this.world.history.note(by.label, `sends ${signal} to pid ${to.pid}`)
  }

  exited(process: Process): void {
    this.drivers.exited(process)
  }

  powerLost(host: Host): void {
    for (const seat of this.seatsOf(host)) {
      this.leases.powerLost(host, seat)
      this.#record.powerLost(host, seat)
    }
  }
}
