/** Cancels what a timer was set for. Calling it twice, or after the timer fired, does nothing. */
export type CancelTimer = () => void

/** The three things a lease needs of time. Everything in these packages that waits or judges takes one. */
export interface Clock {
  /** Wall time, Unix milliseconds. May jump in either direction: for display and for older builds, never for expiry. */
  wallMs(): number
  /**
   * Milliseconds since boot. Never goes back, ignores wall-clock steps, and counts time spent suspended where
   * the system has such a clock (Linux). Comparable between processes of one boot and one time namespace.
   */
  bootMs(): number
  /** Calls back once, `delayMs` or more from now. A timer that is late fires once, not in a burst. */
  after(delayMs: number, callback: () => void): CancelTimer
  /**
   * Resolves after `delayMs`; rejects with the signal's reason as soon as it is aborted, leaving no timer.
   */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

/** `sleep` in terms of `after`, for anyone who implements a Clock. */
export function sleepWith(
  after: Clock['after'],
  delayMs: number,
  signal: AbortSignal | undefined
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
