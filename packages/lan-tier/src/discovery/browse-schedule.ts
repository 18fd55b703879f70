/**
 * When to ask who is there: often at first, then ever more rarely up to a cap; and before a peer would expire, when half
 * of its time has gone, and at 80, 90 and 95 %. Never more often than the floor once the first questions are out, so that
 * peers with short times, or made-up ones, cannot make us ask without end.
 */
import type { PeerDeadline } from '../peers/peer-table.js'
import type { DiscoveryTimings } from './discovery-timings.js'

/** Of the time between last seen and expired. */
const REFRESH_AT = [0.5, 0.8, 0.9, 0.95]

/** Whether a peer should be asked to show itself, rather than told that we know it. */
export function isDueForRefresh({ lastSeenMs, expiresMs }: PeerDeadline, nowMs: number): boolean {
  return nowMs - lastSeenMs >= (expiresMs - lastSeenMs) * 0.5
}

export interface NextBrowse {
  /** How many questions have gone out since the last restart. */
  readonly round: number
  readonly nowMs: number
  readonly deadlines: Iterable<PeerDeadline>
  readonly timings: Pick<DiscoveryTimings, 'browseFirstMs' | 'browseCapMs' | 'browseFloorMs'>
}

/** Milliseconds until the next question. */
export function nextBrowseMs({ round, nowMs, deadlines, timings }: NextBrowse): number {
  const { browseFirstMs, browseCapMs, browseFloorMs } = timings
  const backoffMs = Math.min(browseCapMs, browseFirstMs * 2 ** Math.min(round - 1, 30))
  let refreshMs = Number.POSITIVE_INFINITY
  for (const { lastSeenMs, expiresMs } of deadlines) {
    const due = REFRESH_AT.map((part) => lastSeenMs + (expiresMs - lastSeenMs) * part)
    const next = due.find((atMs) => atMs > nowMs)
    if (next !== undefined) refreshMs = Math.min(refreshMs, next - nowMs)
  }
  return Math.min(backoffMs, Math.max(browseFloorMs, refreshMs))
}
