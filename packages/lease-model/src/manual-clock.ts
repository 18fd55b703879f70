/** A clock that moves only when told to: for tests, ours and our users'. */
import { type Clock, sleepWith } from './clock.js'

export interface ManualClock extends Clock {
  /** Moves time on, firing due timers in order and letting the promises they settle run in between. */
  advance(ms: number): Promise<void>
  /** Steps the wall clock alone, by any amount in either direction. */
  stepWall(ms: number): void
  /** Time passes, on both clocks, but nothing runs: overdue timers fire once, at the next `advance`. */
  suspend(ms: number): void
  /** How many timers are set. A test that ends with some left has found a leak. */
  readonly pendingTimers: number
}

interface Timer {
  readonly dueMs: number
  readonly callback: () => void
}

/** Enough turns of the event loop for chains of promises, and for real I/O that they start, to settle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

export function createManualClock(start: { wallMs?: number; bootMs?: number } = {}): ManualClock {
  let wall = start.wallMs ?? 1_700_000_000_000
  let boot = start.bootMs ?? 1_000_000
  const timers = new Set<Timer>()

  const after: Clock['after'] = (delayMs, callback) => {
    const timer = { dueMs: boot + Math.max(0, delayMs), callback }
    timers.add(timer)
    return () => timers.delete(timer)
  }
  const pass = (ms: number) => {
    wall += ms
    boot += ms
  }
  const nextDue = (untilMs: number): Timer | undefined => {
    let next: Timer | undefined
    for (const timer of timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer
    }
    return next
  }

  return {
    wallMs: () => wall,
    bootMs: () => boot,
    after,
    sleep: (delayMs, signal) => sleepWith(after, delayMs, signal),
    async advance(ms) {
      const untilMs = boot + ms
      await settle()
      for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
        timers.delete(timer)
        if (timer.dueMs > boot) pass(timer.dueMs - boot)
        timer.callback()
        await settle()
      }
      if (untilMs > boot) pass(untilMs - boot)
    },
    stepWall(ms) {
      wall += ms
    },
    suspend: pass,
    get pendingTimers() {
      return timers.size
    }
  }
}
