/** When a client may come again, as a header; spread, so that those turned away together do not come back together. */

const SPREAD_MS = 4_000

/** Whole seconds, as HTTP has it. */
export function retryAfter(leastMs: number): string {
  return String(Math.ceil((leastMs + Math.random() * SPREAD_MS) / 1_000))
}
