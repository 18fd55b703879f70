/** The plain values that callers of a LeaseStore hold and get. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { recordTtlMs } from './judgement.js'
import type { LeaseRecord } from './lease-record.js'

/** A claim that was granted. It says what was true then; whether it still holds, `verify` tells. */
export interface Lease {
  readonly uid: string
  readonly ownerBootId: string
  readonly blockId: string
  /** Fresh at every claim; children carry it as AGENTMUX_CLAIM_ID. */
  readonly claimId: string
  /** The fencing token: greater than that of every earlier holder of this key. */
  readonly epoch: number
  readonly acquiredAtMs: number
  readonly ttlMs: number
  /** Boot-clock time of the claim or renewal that this value stands for. */
  readonly renewedBootMs: number
}

export interface ClaimRequest {
  readonly agent: AgentRef
  /**
   * The pane that will drive the agent, at most 1,024 characters. The same owner and block may claim again; another
   * block is refused.
   */
  readonly blockId: string
  /** Informational; at most 1,024 characters. */
  readonly sessionId?: string
  /** The highest epoch the caller has seen for this agent elsewhere (R10); a whole number below LARGEST_EPOCH. */
  readonly epochFloor?: number
  /**
   * Asked under the key's lock, at the last moment before something would be written: true withholds the grant. Must be
   * quick and must not wait. What it throws, `claim` throws.
   */
  readonly unless?: () => boolean
  /** Ends the wait for the lock, and is passed to `endPrevious`. Nothing is held after an abort. */
  readonly signal?: AbortSignal
}

/** The process that drives the agent, as a renewal records it: a hint for others, and proof of nothing (R12). */
export interface Driver {
  /** 0 if there is none. */
  readonly pid: number
  /** Its start, in clock ticks since boot; 0 if unknown. */
  readonly startTicks: number
}

/** A process that a claimer would have had to end, and why it was left alone. */
export interface RemainingProcess {
  readonly pid: number
  readonly command: string
  readonly why: string
}

export type ClaimResult =
  | { readonly kind: 'granted'; readonly lease: Lease; readonly previous?: PreviousClaim }
  /** Somebody else drives the agent. */
  | { readonly kind: 'refused'; readonly holder: Holder; readonly remaining?: readonly RemainingProcess[] }
  /** Only watching can tell: ask again within this store after `retryAfterMs`, or use `waitForRelease`. */
  | { readonly kind: 'unknown'; readonly holder: Holder; readonly retryAfterMs: number }
  /** Nobody stood in the way but the caller's own `unless`. The lease and its counter are as they were. */
  | { readonly kind: 'withheld' }

/** The claim whose place a new one takes. */
export interface PreviousClaim {
  readonly uid: string
  /** Empty if an older build made it: its processes carry no mark. */
  readonly claimId: string
  readonly epoch: number
  readonly holder: Holder
  readonly why: 'dead' | 'expired' | 'reclaimed'
  /** The process that drove the agent under that claim, as last recorded; 0 if none or unknown. */
  readonly driverPid: number
  readonly driverStartTicks: number
}

/** What ending a previous claim's processes came to (R12). */
export type EndingResult =
  | { readonly kind: 'ended' }
  | { readonly kind: 'remaining'; readonly processes: readonly RemainingProcess[] }

export type RenewResult =
  | { readonly kind: 'renewed'; readonly lease: Lease }
  | { readonly kind: 'lost'; readonly loss: Loss }

export type VerifyResult = { readonly kind: 'held' } | { readonly kind: 'lost'; readonly loss: Loss }

export type WhileHeldResult<T> =
  | { readonly kind: 'held'; readonly value: T }
  | { readonly kind: 'lost'; readonly loss: Loss }

/** Why a lease is no longer ours. `holder` is who has it now, if anybody. */
export interface Loss {
  /** `reclaimed-here`: by a newer claim of this very instance; `missing`: nobody has it. */
  readonly why: 'taken' | 'reclaimed-here' | 'missing' | 'unreadable'
  readonly holder?: Holder
}

export type ReleaseResult =
  | { readonly kind: 'released' }
  /** It was not ours any more, or not there: nothing was touched. */
  | { readonly kind: 'not-held' }

/** What a look at a key tells; a look takes no lock and creates nothing (R6). */
export type LookResult =
  | { readonly kind: 'free' }
  | { readonly kind: 'held'; readonly holder: Holder }
  /** There is a record, but its holder is dead or let it expire. */
  | { readonly kind: 'over'; readonly holder: Holder; readonly why: 'dead' | 'expired' }
  | { readonly kind: 'unknown'; readonly holder: Holder; readonly retryAfterMs: number }

/** A line of `list`. */
export interface ListedLease {
  /** From the file's name, unchecked: print it with care. */
  readonly uid: string
  readonly state: 'held' | 'dead' | 'expired' | 'unknown' | 'unreadable'
  readonly holder: Holder
  readonly renewedAtMs: number
  readonly driverPid: number
  readonly path: string
}

/** The lease that a record stands for. */
export function leaseOf(record: LeaseRecord): Lease {
  return {
    uid: record.instance_id,
    ownerBootId: record.owner_boot_id,
    blockId: record.block_id,
    claimId: record.claim_id,
    epoch: record.epoch,
    acquiredAtMs: record.acquired_at_ms,
    ttlMs: recordTtlMs(record),
    renewedBootMs: record.renewed_boot_ms
  }
}
