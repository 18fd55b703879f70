/** So much per second from one source, so much in all. Remembers one second and a bounded number of sources. */
import type { Clock } from '@agentmux/lease-model'

const MAX_SOURCES = 1_024

export interface Rates {
  readonly perSource: number
  readonly total: number
}

export class RateLimit {
  readonly #clock: Clock
  readonly #rates: Rates
  readonly #counts = new Map<string, number>()
  #startedMs = Number.NEGATIVE_INFINITY
  #total = 0

  constructor(clock: Clock, rates: Rates) {
    this.#clock = clock
    this.#rates = rates
  }

  /** Whether this much more from this source may pass; counts it if so. */
  admits(source: string, cost = 1): boolean {
    const nowMs = this.#clock.bootMs()
    if (nowMs - this.#startedMs >= 1_000) {
      this.#startedMs = nowMs
      this.#total = 0
      this.#counts.clear()
    }
    if (this.#total + cost > this.#rates.total) return false
    // Past so many sources the rest share one count.
    const key = this.#counts.size < MAX_SOURCES || this.#counts.has(source) ? source : ''
    const count = this.#counts.get(key) ?? 0
    if (count + cost > this.#rates.perSource) return false
    this.#counts.set(key, count + cost)
    this.#total += cost
    return true
  }
}
