/** The rules of a shared record: whoever lost an agent appends nothing after its next holder has made itself known (R4). */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import type { Seat } from './seat.js'

export class RecordRules {
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  appended(process: Process, seat: Seat, part: Buffer): void {
    for (const line of part.toString('utf8').split('\n')) {
      const epoch = epochOf(line)
      if (epoch === undefined) continue
      if (epoch < seat.highestInRecord) {
        this.#world.history.violate(
          'R4',
          `${process.label} appends to the record of ${seat.uid} under epoch ${epoch}, after ${seat.highestInRecord}`
        )
      }
      seat.highestInRecord = Math.max(seat.highestInRecord, epoch)
    }
  }

  counted(seat: Seat, data: Buffer): void {
    seat.highestInRecord = Math.max(seat.highestInRecord, Number(data.toString('latin1').trim()) || 0)
  }

  /** What did not reach the platter was not promised, unless somebody asked for that. */
  powerLost(host: Host, seat: Seat): void {
    const folder = host.disk.find(`/home/u/shared/agents/records/${seat.uid}`)
    seat.highestInRecord = 0
    if (folder === undefined) return
    for (const [name, inode] of folder.entries) {
      if (name === 'epoch') this.counted(seat, inode.data)
      if (!name.endsWith('.jsonl')) continue
      for (const line of inode.data.toString('utf8').split('\n')) {
        seat.highestInRecord = Math.max(seat.highestInRecord, epochOf(line) ?? 0)
      }
    }
  }
}

function epochOf(line: string): number | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return (JSON.parse(line) as { epoch?: number }).epoch
  } catch {
    return undefined
  }
}
