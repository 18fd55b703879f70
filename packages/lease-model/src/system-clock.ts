/**
 * The real clock. Boot time comes from the system's uptime, which counts suspension on Linux and ignores
 * wall-clock steps; between two readings of it the cheap monotonic clock is added.
 */
import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'
import { type Clock, sleepWith } from './clock.js'

/** setTimeout fires at once for longer delays; none of ours comes near. */
const MAX_DELAY_MS = 2 ** 31 - 1
/** A reading of the uptime is extended for at most this long. */
const READING_GOOD_FOR_MS = 1_000
/** Uptime is in hundredths of a second; wall and monotonic time further apart than this mean a step or a sleep. */
const DRIFT_MS = 5

export function createSystemClock(): Clock {
  let uptimeAtReadingMs = 0
  let monotonicAtReadingMs = Number.NEGATIVE_INFINITY
  let wallAheadAtReadingMs = 0
  let latestMs = 0

  const after: Clock['after'] = (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), MAX_DELAY_MS))
    return () => clearTimeout(timer)
  }

  return {
    wallMs: () => Date.now(),
    bootMs() {
      const monotonicMs = performance.now()
      const wallAheadMs = Date.now() - monotonicMs
      // A suspension stops the monotonic clock but not the wall clock, so the two drifting apart is the cheap
      // sign that the uptime has to be read again.
      if (
        monotonicMs - monotonicAtReadingMs > READING_GOOD_FOR_MS ||
        Math.abs(wallAheadMs - wallAheadAtReadingMs) > DRIFT_MS
      ) {
        uptimeAtReadingMs = uptime() * 1_000
        monotonicAtReadingMs = monotonicMs
        wallAheadAtReadingMs = wallAheadMs
      }
      latestMs = Math.max(latestMs, Math.round(uptimeAtReadingMs + monotonicMs - monotonicAtReadingMs))
      return latestMs
    },
    after,
    sleep: (delayMs, signal) => sleepWith(after, delayMs, signal)
  }
}
