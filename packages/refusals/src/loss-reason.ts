/** Why a running holder is one no longer. The first reason is the one that every later check repeats. */
export const LOSS_REASONS = Object.freeze([
  'other-owner',
  'reclaimed',
  'unconfirmed',
  'lease-removed',
  'yielded'
] as const)

/**
 * - `other-owner`: another owner took the lease
 * - `reclaimed`: the holder's own process claimed it again; only the newer claim counts
 * - `unconfirmed`: the holder could not confirm it by its own deadline (R13)
 * - `lease-removed`: the lease file is gone
 * - `yielded`: another computer drives the agent too, and by the tie-break that one keeps it
 */
export type LossReason = (typeof LOSS_REASONS)[number]
