/** Durations as people say them: one unit, rounded down, so that a sentence never claims more time than passed. */

/** Years are past what any holder lives; a longer span comes from a clock that was never set. */
const LONGEST_MS = 10 * 365 * 86_400_000
/** Two hosts' clocks this close count as agreeing, as they do in the tie-break between LAN holders. */
const AGREEING_MS = 10_000

/** `12 s`, `3 min`, `5 h`, `4 d`; `less than 1 s` below a second and for what is not a length of time. */
export function durationText(durationMs: number): string {
  if (!(durationMs >= 1_000)) return 'less than 1 s'
  if (durationMs < 120_000) return `${Math.floor(durationMs / 1_000)} s`
  if (durationMs < 120 * 60_000) return `${Math.floor(durationMs / 60_000)} min`
  if (durationMs < 48 * 3_600_000) return `${Math.floor(durationMs / 3_600_000)} h`
  return `${Math.floor(Math.min(durationMs, Number.MAX_SAFE_INTEGER) / 86_400_000)} d`
}

/** The same for time still to come: rounded up to a whole second, so that nobody comes back too early. */
export function remainingText(durationMs: number): string {
  return durationText(durationMs > 0 ? Math.ceil(durationMs / 1_000) * 1_000 : 0)
}

/**
 * For how long a holder has held: `for 3 min`, `just started`, or, where its clock is ahead of ours, its own date.
 * Undefined when the start is unknown (0) or cannot be true.
 */
export function heldForText(acquiredAtMs: number, nowMs: number): string | undefined {
  if (!Number.isFinite(acquiredAtMs) || !Number.isFinite(nowMs) || acquiredAtMs <= 0) return undefined
  const heldMs = nowMs - acquiredAtMs
  if (Math.abs(heldMs) > LONGEST_MS) return undefined
  if (heldMs >= 1_000) return `for ${durationText(heldMs)}`
  if (heldMs > -AGREEING_MS) return 'just started'
  const start = new Date(acquiredAtMs)
  if (Number.isNaN(start.getTime())) return undefined
  return `since ${start.toISOString().slice(0, 16).replace('T', ' ')} UTC by its own clock`
}
