/** What an account can cost the store: every queue, list and time is bounded. */

export interface StoreLimits {
  /** Agents an account may ever have claimed: each is remembered for its epochs. */
  readonly agentsPerAccount: number
  /** Messages that wait for one agent. */
  readonly queue: number
  /** Messages in one answer. */
  readonly pendingPage: number
  /** A message that nobody fetched is dropped after this, milliseconds. */
  readonly keepPendingMs: number
  /** How long it is remembered who won a message, and which calls were made, milliseconds. */
  readonly keepAckedMs: number
}

const HOUR_MS = 3_600_000

export const STORE_LIMITS: StoreLimits = Object.freeze({
  agentsPerAccount: 100_000,
  queue: 1_000,
  pendingPage: 50,
  keepPendingMs: 7 * 24 * HOUR_MS,
  keepAckedMs: 2 * HOUR_MS
})
