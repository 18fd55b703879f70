/** What a held lease answers. Ordinary outcomes are data on `kind`; faults are thrown. */
import type { Refusal, RemainingProcess } from '@agentmux/refusals'

export interface LostCheck {
  readonly kind: 'lost'
  readonly refusal: Refusal
}

export type HeldCheck = { readonly kind: 'held' } | LostCheck

/** What `start` needs to know of the child it started. */
export interface StartedChild {
  readonly pid?: number | undefined
}

export type StartResult<T> = { readonly kind: 'started'; readonly child: T } | LostCheck

export type GivenUp =
  | { readonly kind: 'released' }
  /** It was lost before. The lease of whoever has it now is untouched. */
  | { readonly kind: 'not-held' }
  /** Processes of this claim would not end, so the lease is kept: it runs out by itself. */
  | { readonly kind: 'remaining'; readonly processes: readonly RemainingProcess[] }
