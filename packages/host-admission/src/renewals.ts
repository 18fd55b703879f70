/**
 * Renews one lease at its interval: one timer, one renewal at a time, and none after `stop`. A late timer fires once,
 * not in a burst, and extra renewals leave the rhythm alone, so thousands of leases stay spread.
 */
import type { CancelTimer, Clock, LeaseTimings } from '@agentmux/lease-model'

export interface RenewalsOptions {
  readonly clock: Clock
  readonly timings: LeaseTimings
  /** Renews once. A fault is no loss by itself: it is tried again soon, and the watchdog has the deadline. */
  readonly renew: () => Promise<void>
  readonly onFault: (fault: unknown) => void
}

/**
 * Leases that are due this close together are renewed in one go: to wake up for each of ten thousand costs more than the
 * renewal. Divides the usual interval, so those that were together stay so.
 */
const TOGETHER_MS = 50
/** A renewal that failed is tried again after this long at most. */
const RETRY_MS = 1_000

export class Renewals {
  readonly #options: RenewalsOptions
  #cancelTimer: CancelTimer = () => {}
  #firesAtMs = Number.POSITIVE_INFINITY
  /** When the next regular renewal is due. */
  #dueMs = 0
  #running: Promise<void> | undefined
  /** Somebody asked for another while one was under way. */
  #again = false
  #stopped = false

  constructor(options: RenewalsOptions) {
    this.#options = options
  }

  begin(firstAfterMs: number): void {
    const nowMs = this.#options.clock.bootMs()
    this.#dueMs = Math.ceil((nowMs + firstAfterMs) / TOGETHER_MS) * TOGETHER_MS
    this.#arm(this.#dueMs - nowMs)
  }

  /** One more renewal within `delayMs`. It begins after this call: one that is under way does not count. */
  soon(delayMs: number): void {
    if (this.#running !== undefined) this.#again = true
    else if (this.#options.clock.bootMs() + delayMs < this.#firesAtMs) this.#arm(delayMs)
  }

  /** Renews now, after the renewal that is under way. @throws what `renew` throws. */
  async now(): Promise<void> {
    while (this.#running !== undefined) await this.#running
    if (this.#stopped) return
    let fault: unknown
    await this.#run((thrown) => {
      fault = thrown
    })
    if (fault !== undefined) throw fault
  }

  /** No renewal begins after this. */
  stop(): void {
    this.#stopped = true
    this.#disarm()
  }

  /** Resolves when no renewal is under way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  #arm(delayMs: number): void {
    this.#disarm()
    if (this.#stopped) return
    const { clock, onFault } = this.#options
    this.#firesAtMs = clock.bootMs() + delayMs
    this.#cancelTimer = clock.after(delayMs, () => {
      this.#firesAtMs = Number.POSITIVE_INFINITY
      if (!this.#stopped && this.#running === undefined) void this.#run(onFault)
    })
  }

  #disarm(): void {
    this.#cancelTimer()
    this.#firesAtMs = Number.POSITIVE_INFINITY
  }

  #run(onFault: (fault: unknown) => void): Promise<void> {
    this.#disarm()
    this.#again = false
    this.#running = this.#attempt(onFault).finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #attempt(onFault: (fault: unknown) => void): Promise<void> {
    const { clock, renew, timings } = this.#options
    let failed = false
    try {
      await renew()
    } catch (fault) {
      failed = true
      onFault(fault)
    }
    if (this.#stopped) return
    const nowMs = clock.bootMs()
    const { renewIntervalMs } = timings
    if (this.#dueMs <= nowMs) {
      this.#dueMs += Math.ceil((nowMs + 1 - this.#dueMs) / renewIntervalMs) * renewIntervalMs
    }
    const regularMs = this.#dueMs - nowMs
    const retryMs = Math.min(RETRY_MS, renewIntervalMs / 5)
    this.#arm(this.#again ? 0 : failed ? Math.min(retryMs, regularMs) : regularMs)
  }
}
