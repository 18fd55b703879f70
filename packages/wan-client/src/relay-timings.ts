/** The times of PROTOCOL.md 7, in one place. Every one is fixed: older builds and relays rely on them. */

/** A lease that is not renewed for this long lapses at the relay. */
export const RELAY_TTL_MS = 60_000
export const RENEW_EVERY_MS = 20_000
/** How long "held elsewhere" is good enough to refuse a start without asking again. */
export const ELSEWHERE_GOOD_FOR_MS = 90_000
/** How long an answer to `holder` is given again without asking. */
export const HOLDER_GOOD_FOR_MS = 20_000
/** How long a route that answered 404 or 405 is left alone. */
export const MISSING_ROUTE_MS = 600_000
/** Behind the wake: how often messages are looked for even if nothing woke us. */
export const PULL_EVERY_MS = 120_000
/** How many agents go into one renew-batch. */
export const MAX_BATCH = 1_000
