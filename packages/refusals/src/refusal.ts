/**
 * A refusal as data: what a program decides on, with the sentence a person reads beside it. Plain data on `kind`, so
 * that it crosses HTTP and `--json`. Keeps true that `message` carries the marker of its kind and no other.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import type { LossReason } from './loss-reason.js'
import type { RemainingProcess } from './remaining-process.js'
import type { UnknownReason } from './unknown-message.js'

interface RefusalBase {
  readonly agent: AgentRef
  /** One line for people, safe to print. */
  readonly message: string
  /** One of EXIT_CODES here; another build may send one that this build does not know. Never 0. */
  readonly exitCode: number
}

/** Another instance drives the agent (R2). */
export interface HeldRefusal extends RefusalBase {
  readonly kind: 'held'
  readonly holder: Holder
  readonly retryAfterMs?: number
}

/** A person moved the agent elsewhere (R5). `retryAfterMs`: for how much longer it is kept there. */
export interface TakenOverRefusal extends RefusalBase {
  readonly kind: 'taken-over'
  readonly holder?: Holder
  readonly retryAfterMs?: number
}

/** A running holder is one no longer (R4). `holder`: who has the agent now, if known. */
export interface LostRefusal extends RefusalBase {
  readonly kind: 'lost'
  readonly reason: LossReason
  readonly holder?: Holder
}

/** Nobody can say yet (R8). `retryAfterMs`: how much longer the lease has to be watched. */
export interface UnknownRefusal extends RefusalBase {
  readonly kind: 'unknown'
  readonly retryAfterMs: number
  readonly reason?: UnknownReason
  readonly holder?: Holder
}

/** A lease file could not be used, or its lock was not given back: try again, do not take over (R7). */
export interface IoRefusal extends RefusalBase {
  readonly kind: 'io'
  /** As it is safe to print: without control characters. */
  readonly path: string
  /** The errno name, if there is one. */
  readonly code?: string
  readonly retryAfterMs?: number
}

/** The previous claim's processes are still there (R12, R15). */
export interface ProcessesRemainRefusal extends RefusalBase {
  readonly kind: 'processes-remain'
  /** At most MAX_PROCESSES of them. */
  readonly processes: readonly RemainingProcess[]
  readonly retryAfterMs?: number
}

/** The time given with `--wait` passed. */
export interface WaitRanOutRefusal extends RefusalBase {
  readonly kind: 'wait-ran-out'
  readonly waitedMs: number
  readonly holder?: Holder
}

export type Refusal =
  | HeldRefusal
  | TakenOverRefusal
  | LostRefusal
  | UnknownRefusal
  | IoRefusal
  | ProcessesRemainRefusal
  | WaitRanOutRefusal

export type RefusalKind = Refusal['kind']

/** A refusal carries this many processes; more say nothing more. */
export const MAX_PROCESSES = 32
