/**
 * Passes on at most one call in a while, and never forgets one: whatever strangers make happen on the network, others are
 * asked no more often because of it.
 */
import type { CancelTimer, Clock } from '@agentmux/lease-model'

export class LookSoon {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #look: () => void
  #notBeforeMs = Number.NEGATIVE_INFINITY
  #cancelTimer: CancelTimer | undefined

  constructor(clock: Clock, everyMs: number, look: () => void) {
    this.#clock = clock
    this.#everyMs = everyMs
    this.#look = look
  }

  ask(): void {
    if (this.#cancelTimer !== undefined) return
    const waitMs = this.#notBeforeMs - this.#clock.bootMs()
    if (waitMs <= 0) this.#pass()
    else this.#cancelTimer = this.#clock.after(waitMs, () => this.#pass())
  }

  close(): void {
    this.#cancelTimer?.()
    this.#notBeforeMs = Number.POSITIVE_INFINITY
    this.#cancelTimer = () => {}
  }

  #pass(): void {
    this.#cancelTimer = undefined
    this.#notBeforeMs = this.#clock.bootMs() + this.#everyMs
    this.#look()
  }
}
