/**
 * The files of one agent's record, as its writers change them: each append under the lock, each file by path, bytes only
 * ever added. The log itself turns away an epoch below the highest it has seen (R4). A writer that dies in the middle
 * leaves a torn line; the next one begins on a new line.
 */
import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { createFolder, syncFolder } from '@agentmux/lease-store'
import { raiseEpochSidecar, readEpochSidecar } from './epoch-sidecar.js'
import { lastEpoch } from './last-epoch.js'
import { errnoOf, RecordFault, recordFault } from './record-fault.js'
import type { EncodedBatch } from './record-line.js'
import { type RecordPaths, segmentPath } from './record-paths.js'
import { SAFE } from './safe-open.js'
import {
  createSegment,
  endsTorn,
  isFollowed,
  listSegments,
  type OpenSegment,
  openSegment
} from './segment.js'

export interface SegmentLimits {
  /** A segment that would grow beyond this is followed by another, bytes. */
  readonly segmentBytes: number
  /** Older segments are removed when a new one begins; Infinity keeps all. */
  readonly keepSegments: number
}

export type LogAppend =
  | { readonly kind: 'appended'; readonly position: number; readonly next: number; readonly path: string }
  | { readonly kind: 'rejected'; readonly highestEpoch: number }

interface Tail extends OpenSegment {
  /** Of the last line in the record. */
  readonly epoch: number
  /** It does not end with a newline. */
  readonly torn: boolean
}

export class SegmentLog {
  readonly #paths: RecordPaths
  readonly #limits: SegmentLimits
  /** The end of the record as the last append here left it. */
  #seen: Pick<Tail, 'base' | 'inode' | 'size' | 'epoch'> | undefined

  constructor(paths: RecordPaths, limits: SegmentLimits) {
    this.#paths = paths
    this.#limits = limits
  }

  /** The lowest epoch that is not turned away; 0 if nothing was ever written. Takes no lock, creates nothing (R6). */
  highestEpoch(): number {
    const { epoch, folder } = this.#paths
    return Math.max(readEpochSidecar(epoch) ?? 0, lastEpoch(folder, listSegments(folder)))
  }

  /** For the lock: makes the folder, and the lock file in it, on the first append. */
  createLock(): void {
    const { folder, lock } = this.#paths
    try {
      createFolder(folder)
      closeSync(openSync(lock, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | SAFE, 0o600))
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw recordFault('create', lock, error)
    }
    syncFolder(folder)
    syncFolder(dirname(folder))
  }

  /**
   * The caller holds the lock.
   *
   * @throws RecordFault `io`, with the number of lines that were written whole; LeaseFault `io` where none was.
   */
  append(batch: EncodedBatch): LogAppend {
    const counter = readEpochSidecar(this.#paths.epoch) ?? 0
    let tail = this.#openTail()
    try {
      const highestEpoch = Math.max(counter, tail?.epoch ?? 0)
      if (batch.epoch < highestEpoch) return { kind: 'rejected', highestEpoch }
      // Before the line: the counter is never behind the lines.
      if (batch.epoch > counter) raiseEpochSidecar(this.#paths, batch.epoch)
      if (tail === undefined) {
        tail = this.#create(0)
      } else if (tail.size > 0 && tail.size + batch.bytes.length > this.#limits.segmentBytes) {
        const full = tail
        tail = this.#create(full.base + full.size)
        closeSync(full.descriptor)
      }
      return this.#write(tail, batch)
    } finally {
      if (tail !== undefined) closeSync(tail.descriptor)
    }
  }

  #write(tail: Tail, batch: EncodedBatch): LogAppend {
    const prefix = tail.torn ? '\n' : ''
    const bytes = tail.torn ? Buffer.concat([Buffer.from(prefix), batch.bytes]) : batch.bytes
    this.#seen = undefined
    let done = 0
    try {
      while (done < bytes.length) done += writeSync(tail.descriptor, bytes, done)
    } catch (error) {
      const errno = errnoOf(error)
      throw new RecordFault(`cannot append to ${tail.path}: ${errno}`, {
        code: 'io',
        path: tail.path,
        errno,
        appendedLines: batch.lineEnds.filter((end) => prefix.length + end <= done).length,
        cause: error
      })
    }
    const { base, inode, path } = tail
    const size = tail.size + bytes.length
    if (batch.lineEnds.length > 0) this.#seen = { base, inode, size, epoch: batch.epoch }
    return { kind: 'appended', position: base + tail.size + prefix.length, next: base + size, path }
  }

  #openTail(): Tail | undefined {
    const { folder } = this.#paths
    const unchanged = this.#openUnchanged()
    if (unchanged !== undefined) return unchanged
    const bases = listSegments(folder)
    const base = bases.at(-1)
    const segment = base === undefined ? undefined : openSegment(folder, base)
    if (segment === undefined) return undefined
    try {
      return { ...segment, torn: endsTorn(segment), epoch: lastEpoch(folder, bases) }
    } catch (error) {
      closeSync(segment.descriptor)
      throw error
    }
  }

  /** The tail as the last append here left it, if nobody has written since: then nothing needs to be read. */
  #openUnchanged(): Tail | undefined {
    const { folder } = this.#paths
    const seen = this.#seen
    const segment = seen === undefined ? undefined : openSegment(folder, seen.base)
    if (seen === undefined || segment === undefined) return undefined
    if (segment.size === seen.size && segment.inode === seen.inode && !isFollowed(folder, segment)) {
      return { ...segment, epoch: seen.epoch, torn: false }
    }
    closeSync(segment.descriptor)
    return undefined
  }

  #create(base: number): Tail {
    const { folder } = this.#paths
    const segment = createSegment(folder, base)
    try {
      syncFolder(folder)
      if (this.#limits.keepSegments !== Number.POSITIVE_INFINITY) this.#removeOld()
      return { ...segment, epoch: 0, torn: false }
    } catch (error) {
      closeSync(segment.descriptor)
      throw error
    }
  }

  #removeOld(): void {
    const { folder } = this.#paths
    for (const base of listSegments(folder).slice(0, -this.#limits.keepSegments)) {
      rmSync(segmentPath(folder, base), { force: true })
    }
  }
}
