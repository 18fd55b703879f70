/** One at a time per key, in the order of asking: appends of one process must not overtake each other at the lock. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * Runs at once if nobody is before; otherwise when all who are have ended, whatever became of them. Rejects with the
   * signal's reason if it is aborted before that, and never runs then.
   */
  take<T>(key: string, run: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const before = this.#last.get(key)
    const mine = before === undefined ? run() : inTurn(before, run, signal)
    // An aborted one does not let those behind it pass those before it.
    const ended = Promise.allSettled([before, mine]).then(() => {})
    this.#last.set(key, ended)
    void ended.then(() => {
      if (this.#last.get(key) === ended) this.#last.delete(key)
    })
    return mine
  }
}

function inTurn<T>(
  before: Promise<void>,
  run: () => Promise<T>,
  signal: AbortSignal | undefined
): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => reject(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    void before.then(() => {
      signal?.removeEventListener('abort', onAbort)
      if (signal?.aborted) reject(signal.reason)
      else run().then(resolve, reject)
    })
  })
}
