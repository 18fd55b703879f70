/**
 * How far apart two starts are. A peer may claim any number: what is not a number at all is put at the end of time, where
 * it wins against nobody who has a start, and the same infinity twice is the same time.
 */

/** Starts less than this far apart are simultaneous: the clocks of two computers agree no better. */
export const SIMULTANEOUS_WITHIN_MS = 10_000

export function knownStart(atMs: number): number {
  return Number.isNaN(atMs) ? Number.POSITIVE_INFINITY : atMs
}

/** Both as `knownStart` gives them. */
export function areSimultaneous(oneMs: number, otherMs: number): boolean {
  return oneMs === otherMs || Math.abs(oneMs - otherMs) < SIMULTANEOUS_WITHIN_MS
}
