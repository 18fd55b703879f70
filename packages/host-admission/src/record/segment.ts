/** One file of a record, as a writer opens it: for adding at its end only. */
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { errnoOf, RecordFault, recordFault } from './record-fault.js'
import { segmentBases, segmentPath } from './record-paths.js'
import { SAFE } from './safe-open.js'

export interface OpenSegment {
  /** The position of its first byte in the record. */
  readonly base: number
  readonly path: string
  /** The caller closes it. */
  readonly descriptor: number
  readonly inode: number
  readonly size: number
}

const ADDING = constants.O_RDWR | constants.O_APPEND | SAFE
export const NEWLINE = 0x0a

/** Lowest first. @throws RecordFault `io`; a folder that does not exist has no segments. */
export function listSegments(folder: string): number[] {
  try {
    return segmentBases(readdirSync(folder))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw recordFault('read the folder', folder, error)
  }
}

/** Undefined if there is none at that position. @throws RecordFault `io`. */
export function openSegment(folder: string, base: number): OpenSegment | undefined {
  return opened(segmentPath(folder, base), base, ADDING)
}

/** @throws RecordFault `io`, also if there is one already. */
export function createSegment(folder: string, base: number): OpenSegment {
  const path = segmentPath(folder, base)
  const segment = opened(path, base, ADDING | constants.O_CREAT | constants.O_EXCL)
  if (segment === undefined) throw new RecordFault(`cannot create ${path}`, { code: 'io', path })
  return segment
}

function opened(path: string, base: number, flags: number): OpenSegment | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, flags, 0o600)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' && (flags & constants.O_CREAT) === 0) return undefined
    throw recordFault('open', path, error)
  }
  const stats = fstatSync(descriptor)
  if (stats.isFile()) return { base, path, descriptor, inode: stats.ino, size: stats.size }
  closeSync(descriptor)
  throw new RecordFault(`cannot append to ${path}: it is not a file`, { code: 'io', path })
}

/** Whether a next segment was begun, by any process: its name is where this one ends. */
export function isFollowed(folder: string, { base, size }: OpenSegment): boolean {
  return size === 0 || existsSync(segmentPath(folder, base + size))
}

/** Whether a writer died in the middle of the last line. */
export function endsTorn({ descriptor, path, size }: OpenSegment): boolean {
  if (size === 0) return false
  const last = Buffer.alloc(1)
  try {
    readSync(descriptor, last, 0, 1, size - 1)
  } catch (error) {
    throw recordFault('read', path, error)
  }
  return last[0] !== NEWLINE
}
