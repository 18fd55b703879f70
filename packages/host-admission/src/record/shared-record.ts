/**
 * What every holder of an agent has written, in one append-only log per agent under the shared root. An append under an
 * epoch below the highest seen is turned away by the log, whoever asks and whatever it believes (R4). Acknowledged means
 * handed to the kernel, or on the disk with `durable`. Nothing is deleted unless `keepSegments` says so. It does not
 * know leases: that is RecordFence's part.
 */
import { promises as files } from 'node:fs'
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import { FileLock, type LockOptions } from '@agentmux/lease-store'
import type { AppendRequest, AppendResult, Withheld } from './append.js'
import { type FollowOptions, followRecord } from './follow-record.js'
import { recordFault } from './record-fault.js'
import { encodeBatch, type RecordItem } from './record-line.js'
import { type RecordPaths, recordPaths } from './record-paths.js'
import { scanRecord } from './scan-record.js'
import { type LogAppend, type SegmentLimits, SegmentLog } from './segment-log.js'
import { Turns } from './turns.js'

export interface SharedRecordOptions extends Partial<SegmentLimits> {
  readonly clock?: Clock
  /** How long an append tries for the lock, the appends before it included, milliseconds. */
  readonly lockWaitMs?: number
}

export interface ReadResult {
  readonly items: readonly RecordItem[]
  /** Read on from here. */
  readonly next: number
  /** Whether the end of the record was reached. */
  readonly atEnd: boolean
}

const SEGMENT_BYTES = 8 * 1024 * 1024
/** The lock is held for a fraction of a millisecond; whoever holds it this long is stopped, or its disk is. */
const LOCK_WAIT_MS = 3_000
const READ_LIMIT = 1_000
/** A read stops after this much, so that its answer stays small whatever the lines are. */
const READ_BYTES = 1024 * 1024
/** Agents remembered at the same time: as many as one process may hold. A forgotten one is looked at again. */
const MAX_LOGS = 16_384

interface AgentLog {
  readonly paths: RecordPaths
  readonly log: SegmentLog
}

export class SharedRecord {
  readonly #sharedRoot: string
  readonly #clock: Clock
  readonly #limits: SegmentLimits
  readonly #lockWaitMs: number
  readonly #lock = new FileLock()
  readonly #turns = new Turns()
  readonly #logs = new Map<string, AgentLog>()

  /** Touches nothing: the folder of an agent is made by its first append. */
  constructor(sharedRoot: string, options: SharedRecordOptions = {}) {
    if (typeof sharedRoot !== 'string' || sharedRoot === '') {
      throw new TypeError('the shared root must be a path')
    }
    this.#sharedRoot = sharedRoot
    this.#clock = options.clock ?? createSystemClock()
    this.#lockWaitMs = options.lockWaitMs ?? LOCK_WAIT_MS
    this.#limits = {
      segmentBytes: options.segmentBytes ?? SEGMENT_BYTES,
      keepSegments: options.keepSegments ?? Number.POSITIVE_INFINITY
    }
    if (!(this.#limits.keepSegments >= 1)) throw new RangeError('at least one segment must be kept')
    if (!(this.#limits.segmentBytes >= 1)) throw new RangeError('a segment must hold something')
  }

  /** The folder of an agent's record. */
  pathOf(uid: string): string {
    return this.#paths(uid).folder
  }

  /**
   * Adds the events in one write. Appends made here for one agent are written in the order of the calls. With no events
   * it only makes the epoch known: from then on lower ones are turned away.
   *
   * @throws RecordFault if the files cannot be used; its `appendedLines` tells how many of the events were written
   * whole. RangeError or TypeError for what cannot be written; the signal's reason, and then nothing was written.
   */
  async append(uid: string, request: AppendRequest): Promise<AppendResult> {
    const result = await this.appendIf(uid, request, () => true)
    if (result.kind === 'withheld') throw new TypeError('an append without a condition cannot be withheld')
    return result
  }

  /** The same, if `allowed` still says so at the last moment: under the lock, just before the write. */
  async appendIf(
    uid: string,
    request: AppendRequest,
    allowed: () => boolean
  ): Promise<AppendResult | Withheld> {
    const { paths, log } = this.#agent(uid)
    const batch = encodeBatch(request.events, request.epoch, this.#clock.wallMs())
    const askedMs = performance.now()
    const section = (): LogAppend | Withheld => (allowed() ? log.append(batch) : { kind: 'withheld' })
    const result = await this.#turns.take(
      uid,
      () =>
        this.#locked(paths, section, {
          waitMs: Math.max(0, this.#lockWaitMs - (performance.now() - askedMs)),
          signal: request.signal,
          create: () => log.createLock()
        }),
      request.signal
    )
    if (result.kind !== 'appended') return result
    const { path, ...appended } = result
    // Not under the lock, and not on this thread: it takes as long as the disk likes.
    if (request.durable === true) await syncFile(path)
    return appended
  }

  /** The floor for the next claim of the agent (R10); 0 if it has no record. Takes no lock, creates nothing. */
  highestEpoch(uid: string): number {
    return this.#agent(uid).log.highestEpoch()
  }

  /**
   * Up to `limit` items from a position; fewer, if they are long. A position inside a line means the line after it, so
   * `from: next - 65_536` is a way to read the end of a long record.
   *
   * @throws RecordFault `io`.
   */
  async read(uid: string, options: { from?: number; limit?: number } = {}): Promise<ReadResult> {
    const { from = 0, limit = READ_LIMIT } = options
    checkPosition(from)
    if (!Number.isInteger(limit) || limit < 1) throw new RangeError(`limit must be 1 or more, not ${limit}`)
    const items: RecordItem[] = []
    let next = from
    for await (const some of scanRecord(this.#paths(uid).folder, from)) {
      for (const item of some) {
        if (items.length === limit || next - from >= READ_BYTES) return { items, next, atEnd: false }
        items.push(item)
        next = item.next
      }
    }
    return { items, next, atEnd: true }
  }

  /**
   * Everything from a position on, as it is written, until the signal is aborted. Holds one chunk in memory, however
   * slow the reader. The record need not exist yet.
   */
  follow(uid: string, options: FollowOptions = {}): AsyncGenerator<RecordItem, void> {
    checkPosition(options.from ?? 0)
    return followRecord(this.#paths(uid).folder, this.#clock, options)
  }

  #paths(uid: string): RecordPaths {
    return recordPaths(this.#sharedRoot, uid)
  }

  /** Checking a UID costs more than remembering it. */
  #agent(uid: string): AgentLog {
    const known = this.#logs.get(uid)
    if (known !== undefined) return known
    const paths = this.#paths(uid)
    const agent = { paths, log: new SegmentLog(paths, this.#limits) }
    if (this.#logs.size >= MAX_LOGS) this.#logs.clear()
    this.#logs.set(uid, agent)
    return agent
  }

  async #locked<T>(paths: RecordPaths, section: () => T, options: LockOptions): Promise<T> {
    try {
      return await this.#lock.run(paths.lock, section, options)
    } catch (error) {
      // The reason of an abort is the caller's own, and is passed on as it is.
      if (options.signal?.aborted && error === options.signal.reason) throw error
      throw recordFault('append to', paths.folder, error)
    }
  }
}

function checkPosition(from: number): void {
  if (!Number.isSafeInteger(from) || from < 0) throw new RangeError(`not a position: ${from}`)
}

async function syncFile(path: string): Promise<void> {
  try {
    const file = await files.open(path, 'r+')
    try {
      await file.datasync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw recordFault('sync', path, error)
  }
}
