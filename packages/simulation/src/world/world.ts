/**
 * One simulated world: its time, what is planned in it, what happened. Time stands still while something runs, unless that
 * something gives way: then others run in between, however deep in its own code it stands.
 */
import { EventQueue, type Planned } from './event-queue.js'
import { History } from './history.js'
import { Random } from './random.js'

/** Deeper than this nobody gives way: the stack of the real process has an end. */
const MAX_DEPTH = 12
/** A history of minutes has tens of thousands; more means that something turns in a circle. */
const MOST_EVENTS = 3_000_000

export class World {
  readonly queue = new EventQueue()
  readonly history: History
  /** For all that happens by the way: delays, interleavings. */
  readonly random: Random
  nowUs = 0
  endUs = Number.POSITIVE_INFINITY
  events = 0
  mostEvents = MOST_EVENTS
  #depth = 0
  #ended = false

  constructor(seed: number) {
    this.random = new Random(seed, 1)
    this.history = new History(() => this.nowUs)
  }

  /** Nothing happens any more: everything that still stands in the middle of its code is thrown out of it. */
  get ended(): boolean {
    return this.#ended || this.history.violation !== undefined
  }

  end(): void {
    this.#ended = true
  }

  get mayNest(): boolean {
    return this.#depth < MAX_DEPTH
  }

  after(delayUs: number, run: () => void): Planned {
    return this.queue.add(this.nowUs + Math.max(0, Math.ceil(delayUs)), run)
  }

  /** Until a moment, or the end. */
  runUntil(untilUs: number): void {
    this.#depth++
    try {
      const lastUs = Math.min(untilUs, this.endUs)
      while (!this.ended) {
        const next = this.queue.next
        if (next === undefined || next.atUs > lastUs) break
        this.queue.take()
        if (next.cancelled) continue
        if (next.atUs > this.nowUs) this.nowUs = next.atUs
        this.events++
        if (this.events > this.mostEvents)
          this.history.violate('R3', `there is no end to it: ${this.events} events`)
        next.run()
      }
      if (!this.ended && untilUs > this.nowUs) this.nowUs = Math.min(untilUs, Math.max(this.nowUs, lastUs))
    } finally {
      this.#depth--
    }
  }
}
