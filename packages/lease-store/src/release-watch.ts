/**
 * Waiting for a lease to come free: woken by the change of its file, with a slow poll behind for what changes no file
 * (the holder's death, an expiry, lost events).
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import { FileChange } from './file-change.js'
import type { LookResult } from './lease.js'

export interface ReleaseWatchOptions {
  readonly signal?: AbortSignal
  /** Called after each look that found the lease still held, to show progress. At least once a second. */
  readonly onStillHeld?: (look: LookResult) => void
}

/** Also how late a death or an expiry may be noticed. */
const POLL_MS = 1_000

/** Where no watch is to be had, the poll does. */
const MAX_ARMING = 3

export interface Watched {
  readonly path: string
  readonly clock: Clock
  readonly look: () => LookResult
}

/** However it settles, no timer, watch or listener is left. */
export function watchForRelease(
  { path, clock, look }: Watched,
  { signal, onStillHeld }: ReleaseWatchOptions
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    let settled = false
    let cancelPoll: CancelTimer | undefined
    const change = new FileChange(path, check)

    function finish(settle: () => void): void {
      settled = true
      cancelPoll?.()
      change.stop()
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    function onAbort(): void {
      finish(() => reject(signal?.reason))
    }
    /** Armed before the look: what changes after it is told. A lease that came in between has no watch yet. */
    function armedLook(): LookResult {
      for (let tries = 1; ; tries++) {
        const armed = change.arm()
        const found = look()
        if (armed || tries === MAX_ARMING || found.kind === 'free') return found
      }
    }
    function check(): void {
      if (settled) return
      try {
        const found = armedLook()
        if (found.kind === 'free' || found.kind === 'over') {
          finish(resolve)
          return
        }
        onStillHeld?.(found)
        if (settled) return
        cancelPoll?.()
        cancelPoll = clock.after(nextPollMs(found), check)
      } catch (error) {
        finish(() => reject(error))
      }
    }

    signal?.addEventListener('abort', onAbort, { once: true })
    check()
  })
}

/** Poll just after the moment at which watching will have decided. */
function nextPollMs(found: LookResult): number {
  if (found.kind !== 'unknown') return POLL_MS
  return Math.min(POLL_MS, Math.max(1, found.retryAfterMs))
}
