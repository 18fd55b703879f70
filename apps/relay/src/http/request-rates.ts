/**
 * How often a token may ask: so many requests per second on average, twice as many at once. Holds one entry per token that
 * asked lately, so that no number of tokens makes it grow for good.
 */

interface Bucket {
  left: number
  atMs: number
}

const SWEEP_MS = 60_000

export class RequestRates {
  readonly #perSecond: number
  readonly #buckets = new Map<string, Bucket>()
  #sweptMs = 0

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  /** Counts one request. 0 if it may go on, else in how many milliseconds the next may. */
  take(tokenId: string, nowMs: number): number {
    this.#sweep(nowMs)
    const most = this.#perSecond * 2
    const bucket = this.#buckets.get(tokenId) ?? { left: most, atMs: nowMs }
    bucket.left = Math.min(most, bucket.left + ((nowMs - bucket.atMs) / 1_000) * this.#perSecond)
    bucket.atMs = nowMs
    this.#buckets.set(tokenId, bucket)
    if (bucket.left < 1) return ((1 - bucket.left) / this.#perSecond) * 1_000
    bucket.left--
    return 0
  }

  /** Whoever has not asked for a minute has a full bucket again. */
  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < SWEEP_MS) return
    this.#sweptMs = nowMs
    for (const [id, { atMs }] of this.#buckets) if (nowMs - atMs >= SWEEP_MS) this.#buckets.delete(id)
  }
}
