/** One operation at a time per agent, in the order in which they came. Waiting can be cancelled; nothing is left behind. */

export class AgentLocks {
  /** Who waits, per agent that is busy. */
  readonly #waiting = new Map<string, (() => void)[]>()

  busy(key: string): boolean {
    return this.#waiting.has(key)
  }

  /** Runs `operation` when no other one runs for the agent. @throws the signal's reason if aborted while waiting. */
  async run<T>(key: string, operation: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#acquire(key, signal)
    try {
      return await operation()
    } finally {
      this.#release(key)
    }
  }

  #acquire(key: string, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    const waiting = this.#waiting.get(key)
    if (waiting === undefined) {
      this.#waiting.set(key, [])
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }
      const onAbort = () => {
        waiting.splice(waiting.indexOf(go), 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      waiting.push(go)
    })
  }

  #release(key: string): void {
    const next = this.#waiting.get(key)?.shift()
    if (next === undefined) this.#waiting.delete(key)
    else next()
  }
}
