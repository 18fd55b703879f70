/**
 * Where the record of an agent is: a folder of its own with segments of JSON lines, a lock and the highest epoch.
 * A segment is named by the position of its first byte in the whole record, so names sort in the order of writing and
 * the end of one segment is the name of the next.
 */
import { join } from 'node:path'
import { leaseKey } from '@agentmux/lease-store'

export interface RecordPaths {
  readonly folder: string
  /** Empty; locked around each append. Never renamed, replaced or removed (R11). */
  readonly lock: string
  /** The highest epoch seen. Only ever replaced, whole, by a higher one. */
  readonly epoch: string
}

const SEGMENT_NAME = /^(\d{16})\.jsonl$/

/** @throws TypeError or RangeError for what cannot be a UID. */
export function recordPaths(sharedRoot: string, uid: string): RecordPaths {
  const folder = join(sharedRoot, 'agents', 'records', leaseKey(uid))
  return { folder, lock: join(folder, 'lock'), epoch: join(folder, 'epoch') }
}

export function segmentPath(folder: string, base: number): string {
  return join(folder, `${String(base).padStart(16, '0')}.jsonl`)
}

/** The positions at which the segments among these file names begin, lowest first. */
export function segmentBases(names: readonly string[]): number[] {
  const bases: number[] = []
  for (const name of names) {
    const digits = SEGMENT_NAME.exec(name)?.[1]
    if (digits !== undefined && Number.isSafeInteger(Number(digits))) bases.push(Number(digits))
  }
  return bases.sort((one, other) => one - other)
}
