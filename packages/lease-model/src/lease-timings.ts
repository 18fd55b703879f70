/** How long a lease lives without renewal, and when a holder that cannot renew stops its child (R13). */
export interface LeaseTimings {
  /** A lease not renewed for this long may be claimed by others. */
  readonly ttlMs: number
  /** How often a holder renews. */
  readonly renewIntervalMs: number
  /** SIGTERM to the child this long after the start of the last good renewal. */
  readonly terminateAfterMs: number
  /** SIGKILL to the child this long after the start of the last good renewal; always below the TTL. */
  readonly killAfterMs: number
}

/** The TTL every AgentMux build uses. Older builds apply it to every lease, whatever the record says. */
export const DEFAULT_TTL_MS = 15_000
/** The TTLs a holder may choose, and the bounds to which a record's `ttl_ms` is clamped (R3). */
export const MIN_TTL_MS = 500
export const MAX_TTL_MS = 600_000

/**
 * The timings of a TTL: a third of it between renewals, SIGTERM at 11/15, SIGKILL at 13/15.
 *
 * @throws RangeError if `ttlMs` is not a whole number from MIN_TTL_MS to MAX_TTL_MS.
 */
export function leaseTimings(ttlMs: number = DEFAULT_TTL_MS): LeaseTimings {
  if (!Number.isInteger(ttlMs) || ttlMs < MIN_TTL_MS || ttlMs > MAX_TTL_MS) {
    throw new RangeError(`ttlMs must be a whole number from ${MIN_TTL_MS} to ${MAX_TTL_MS}, not ${ttlMs}`)
  }
  return {
    ttlMs,
    renewIntervalMs: Math.floor(ttlMs / 3),
    terminateAfterMs: Math.floor((ttlMs * 11) / 15),
    killAfterMs: Math.floor((ttlMs * 13) / 15)
  }
}
