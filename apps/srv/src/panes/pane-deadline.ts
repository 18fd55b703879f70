/** By when nothing of a closing pane runs any more. Can only come closer; whoever waits for it is woken then. */
import type { Clock } from '@agentmux/lease-model'

/** Between SIGTERM and SIGKILL at the end of a grace. */
export const TERMINATE_MS = 2_000

export class PaneDeadline {
  readonly #clock: Clock
  /** On the boot clock, milliseconds. */
  #killAtMs = Number.POSITIVE_INFINITY
  #terminateAtMs = Number.POSITIVE_INFINITY
  #sooner = new AbortController()
  #wake: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Aborted when the deadline comes closer. */
  get sooner(): AbortSignal {
    return this.#sooner.signal
  }

  /** Until SIGKILL, milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#killAtMs - this.#clock.bootMs())
  }

  shorten(graceMs: number): void {
    const killAtMs = this.#clock.bootMs() + graceMs
    if (killAtMs < this.#killAtMs) {
      this.#killAtMs = killAtMs
      this.#terminateAtMs = killAtMs - Math.min(TERMINATE_MS, graceMs / 2)
      this.#sooner.abort()
      this.#sooner = new AbortController()
    }
    this.wake()
  }

  /** What is waited for may be over. */
  wake(): void {
    this.#wake()
  }

  /** Resolves when it is time for SIGTERM, or `isOver` says at a wake that there is no need. */
  async terminate(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const leftMs = this.#terminateAtMs - this.#clock.bootMs()
      if (leftMs <= 0) return
      await new Promise<void>((resolve) => {
        const cancelTimer = this.#clock.after(leftMs, resolve)
        this.#wake = () => {
          cancelTimer()
          resolve()
        }
      })
    }
  }
}
