/**
 * A file that somebody else has open cannot be renamed over or removed on Windows, for as long as a virus scanner or a
 * backup looks at it. Such a call is tried again for a moment: the lock is held meanwhile, so the moment is short beside
 * the time for which others try for the lock, and much shorter than any TTL.
 */
import { errnoOf } from './lease-fault.js'

/** 31 ms in sum, each about twice the one before: scanners let go within a few. */
const PAUSES_MS = [1, 2, 4, 8, 16]
/** Elsewhere it means a mount point or a swap file: then it stays so, and costs these few milliseconds. */
const ANYWHERE = new Set(['EBUSY'])
const ON_WINDOWS = new Set(['EBUSY', 'EPERM', 'EACCES'])

export interface SharingOptions {
  readonly platform?: NodeJS.Platform
  /** Waits without giving the lock up, milliseconds. */
  readonly pause?: (ms: number) => void
}

/** Throws what the last try threw. */
export function despiteSharing<T>(
  operation: () => T,
  { platform = process.platform, pause = sleepHere }: SharingOptions = {}
): T {
  const passing = platform === 'win32' ? ON_WINDOWS : ANYWHERE
  for (const pauseMs of PAUSES_MS) {
    try {
      return operation()
    } catch (error) {
      if (!passing.has(errnoOf(error))) throw error
      pause(pauseMs)
    }
  }
  return operation()
}

const never = new Int32Array(new SharedArrayBuffer(4))

function sleepHere(ms: number): void {
  Atomics.wait(never, 0, 0, ms)
}
