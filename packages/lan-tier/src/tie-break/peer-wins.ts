/**
 * The tie-break between two computers that drive one agent, as every AgentMux build judges it: the earlier start wins,
 * unless the starts are too close to tell, and then the lower host name. Pure and total.
 */

/** Starts less than this far apart are simultaneous: clocks of two computers agree no better. */
export const SIMULTANEOUS_WITHIN_MS = 10_000

/**
 * Whether the peer keeps the agent and we yield. Both sides compute it from the same four values, so that exactly one
 * yields when the host names differ; with equal names and simultaneous starts neither does (see `decide`).
 */
export function peerWins(peerAtMs: number, peerHost: string, mineAtMs: number, myHost: string): boolean {
  if (Math.abs(peerAtMs - mineAtMs) < SIMULTANEOUS_WITHIN_MS) return peerHost < myHost
  return peerAtMs < mineAtMs
}
