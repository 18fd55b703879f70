/**
 * The relay's own clock, by which leases run out. Keeps true that a time in which the relay was not there to be asked does
 * not count against anybody: after a start, and after a gap in which it did not run (stopped, suspended, starved), every
 * lease counts as renewed at that moment. Steps of the wall clock do not exist here.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'

const TICK_MS = 1_000

export class ServingClock {
  readonly ttlMs: number
  readonly #clock: Clock
  readonly #gapMs: number
  readonly #onTick: (nowMs: number) => void
  #lastMs: number
  #graceFromMs: number
  #cancel: CancelTimer | undefined

  constructor(clock: Clock, ttlMs: number, onTick: (nowMs: number) => void) {
    this.ttlMs = ttlMs
    this.#clock = clock
    this.#gapMs = ttlMs / 4
    this.#onTick = onTick
    this.#lastMs = clock.bootMs()
    this.#graceFromMs = this.#lastMs
    this.#arm()
  }

  /** Milliseconds; to be asked before each judgement, as that is what notices a gap. */
  nowMs(): number {
    const nowMs = this.#clock.bootMs()
    if (nowMs - this.#lastMs > this.#gapMs) this.#graceFromMs = nowMs
    this.#lastMs = nowMs
    return nowMs
  }

  /** Whether a lease that was renewed then is alive now. */
  isAlive(renewedMs: number, nowMs: number): boolean {
    return nowMs - Math.max(renewedMs, this.#graceFromMs) < this.ttlMs
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #arm(): void {
    this.#cancel = this.#clock.after(Math.min(TICK_MS, this.ttlMs / 10), () => {
      this.#arm()
      this.#onTick(this.nowMs())
    })
  }
}
