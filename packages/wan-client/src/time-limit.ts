/** One AbortSignal for one call: the caller's, and a time limit. Leaves no timer and no listener behind once ended. */
import type { Clock } from '@agentmux/lease-model'

export interface TimeLimitPorts {
  readonly clock: Clock
  readonly signals: readonly (AbortSignal | undefined)[]
}

export class TimeLimit {
  readonly #controller = new AbortController()
  readonly #ends: (() => void)[] = []
  /** Whether it was the time, and not a caller, that ended the call. */
  ranOut = false

  constructor(limitMs: number, { clock, signals }: TimeLimitPorts) {
    const cancelTimer = clock.after(limitMs, () => {
      this.ranOut = true
      this.#controller.abort(new Error('no answer in time'))
    })
    this.#ends.push(cancelTimer)
    for (const signal of signals) if (signal !== undefined) this.#follow(signal)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** What `work` gives; rejects with the reason as soon as the limit aborts, whether `work` listens or not. */
  bound<T>(work: () => Promise<T>): Promise<T> {
    const { signal } = this.#controller
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      work().then(resolve, reject)
    })
  }

  /** Resolves when the time has run out, or a caller has aborted. */
  over(): Promise<void> {
    const { signal } = this.#controller
    return new Promise((resolve) => {
      if (signal.aborted) return resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  #follow(signal: AbortSignal): void {
    const onAbort = () => this.#controller.abort(signal.reason)
    if (signal.aborted) {
      onAbort()
      return
    }
    signal.addEventListener('abort', onAbort, { once: true })
    this.#ends.push(() => signal.removeEventListener('abort', onAbort))
  }
}
