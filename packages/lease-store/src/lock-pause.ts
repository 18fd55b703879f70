/** Short waits: between two tries of a lock, because whoever polls slowly starves beside those who queue, and out of courtesy. */

/** Waiting longer between tries starves against older builds, which queue in the kernel. */
const MAX_PAUSE_MS = 2
/** Tries that only let other work run in between. */
const EAGER_TRIES = 3

/** @throws the signal's reason as soon as it is aborted; no timer is left. */
export function pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  return interruptible((callback) => later(attempt, callback), signal)
}

/** A time of the machine's, not of a clock that may be set. @throws the signal's reason, as `pause`. */
export function rest(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return interruptible((callback) => timer(durationMs, callback), signal)
}

/** `begin` calls back later, and returns how to prevent it. */
function interruptible(
  begin: (callback: () => void) => () => void,
  signal: AbortSignal | undefined
): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const onAbort = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = begin(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function later(attempt: number, callback: () => void): () => void {
  if (attempt <= EAGER_TRIES) {
    const turn = setImmediate(callback)
    return () => clearImmediate(turn)
  }
  // One or two milliseconds, at random, so that those who wait do not try in step.
  return timer(1 + Math.floor(Math.random() * MAX_PAUSE_MS), callback)
}

function timer(durationMs: number, callback: () => void): () => void {
  const started = setTimeout(callback, durationMs)
  return () => clearTimeout(started)
}
