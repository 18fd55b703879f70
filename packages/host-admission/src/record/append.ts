/** What is asked of an append, and what may come of it. */
import type { RecordEvent } from './record-line.js'

export interface AppendRequest {
  readonly events: readonly RecordEvent[]
  /** Of the lease under which they happened. */
  readonly epoch: number
  /** Acknowledge only what is on the disk. */
  readonly durable?: boolean
  readonly signal?: AbortSignal | undefined
}

/** All events stand in the record, in their order, with nothing in between: from `position`, up to `next`. */
export interface Appended {
  readonly kind: 'appended'
  readonly position: number
  readonly next: number
}

/** A higher epoch has written: whoever asked is not the holder any more. Nothing was written. */
export interface Rejected {
  readonly kind: 'rejected'
  readonly highestEpoch: number
}

export type AppendResult = Appended | Rejected

/** Forbidden by the caller's own condition, at the last moment. Nothing was written. */
export interface Withheld {
  readonly kind: 'withheld'
}
