/** How long a lease at the relay lives without a renewal. Part of the protocol; shorter ones are for tests. */
export const RELAY_TTL_MS = 60_000
