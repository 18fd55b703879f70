/**
 * Waiting for a lease to come free: woken by the change of its file, with a slow poll behind for what changes no file
 * (the holder's death, an expiry, lost events).
 */
import { type FSWatcher, statSync, watch } from 'node:fs'
import type { LookResult } from './lease.js'

export interface ReleaseWatchOptions {
  readonly signal?: AbortSignal
  /** Called after each look that found the lease still held, to show progress. At least once a second. */
  readonly onStillHeld?: (look: LookResult) => void
}

/** Also how late a death or an expiry may be noticed. */
const POLL_MS = 1_000

export function watchForRelease(
  path: string,
  look: () => LookResult,
  { signal, onStillHeld }: ReleaseWatchOptions
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason)
      return
    }
    let watcher: FSWatcher | undefined
    let watchedInode: number | undefined
    let timer: NodeJS.Timeout | undefined

    const finish = (settle: () => void) => {
      clearTimeout(timer)
      watcher?.close()
      watcher = undefined
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = () => finish(() => reject(signal?.reason))

    /** A watch is on an inode. When the file was replaced or appears, it must be set anew, and the file read after. */
    const rearm = () => {
      const inode = statSync(path, { throwIfNoEntry: false })?.ino
      if (watcher !== undefined && inode === watchedInode) return
      watcher?.close()
      watcher = undefined
      watchedInode = inode
      if (inode === undefined) return
      try {
        watcher = watch(path, { persistent: false }, check)
        watcher.on('error', () => {
          watcher?.close()
          watcher = undefined
        })
      } catch {
        // No more inotify watches to be had, or the file went away: the poll sees it.
      }
    }
    function check(): void {
      try {
        rearm()
        const found = look()
        if (found.kind === 'free' || found.kind === 'over') {
          finish(resolve)
          return
        }
        onStillHeld?.(found)
        clearTimeout(timer)
        timer = setTimeout(check, nextPollMs(found))
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
