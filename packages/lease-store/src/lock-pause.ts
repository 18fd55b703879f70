/** The pause between two tries of a lock: short, because whoever polls slowly starves beside those who queue. */

/** Waiting longer between tries starves against older builds, which queue in the kernel. */
const MAX_PAUSE_MS = 2
/** Tries that only let other work run in between. */
const EAGER_TRIES = 3

/** @throws the signal's reason as soon as it is aborted; no timer is left. */
export function pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel()
      reject(signal?.reason)
    }
    const onTime = () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }
    const cancel = later(attempt, onTime)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

function later(attempt: number, callback: () => void): () => void {
  if (attempt <= EAGER_TRIES) {
    const turn = setImmediate(callback)
    return () => clearImmediate(turn)
  }
  // One or two milliseconds, at random, so that those who wait do not try in step.
  const timer = setTimeout(callback, 1 + Math.floor(Math.random() * MAX_PAUSE_MS))
  return () => clearTimeout(timer)
}
