/**
 * When the processes of a lease that is not renewed have to end (R13). Pure: it is told the time, and decides.
 * After a suspension it first allows for a look: the lease may still be ours.
 */

export interface DeadlineTimings {
  readonly ttlMs: number
  readonly terminateAfterMs: number
  readonly killAfterMs: number
  /** How often the deadline is looked at, at most. */
  readonly tickMs: number
}

export type DeadlineAction = 'wait' | 'terminate' | 'kill'

/** Later than planned by more than this many ticks: we were suspended, and so was the main thread. */
const SUSPENDED_TICKS = 4
/** The wall clock moving against the boot clock by more than this was a step. */
const WALL_STEP_MS = 1_000

export class Deadline {
  readonly #timings: DeadlineTimings
  #lookUntilMs = 0
  /** The renewal for which a look has been allowed. */
  #allowedFor = -1
  #killAtMs: number | undefined

  constructor(timings: DeadlineTimings) {
    this.#timings = timings
  }

  /**
   * Nothing ran for `stalledMs`. Puts the deadline off for a look, once per renewal: a process that is starved again and
   * again does not live on for ever. But nothing is starved for a whole TTL: that was a suspension, each time.
   */
  allowLook(renewedMs: number, nowMs: number, stalledMs: number): void {
    if (this.#allowedFor === renewedMs && stalledMs < this.#timings.ttlMs) return
    this.#allowedFor = renewedMs
    this.#lookUntilMs = nowMs + (this.#timings.killAfterMs - this.#timings.terminateAfterMs)
  }

  /** `renewedMs`: the start of the last good renewal. Once it said `terminate`, tell it with `fence`. */
  action(renewedMs: number, nowMs: number): DeadlineAction {
    if (this.#killAtMs !== undefined) return nowMs >= this.#killAtMs ? 'kill' : 'wait'
    return nowMs >= this.#deadlineMs(renewedMs) ? 'terminate' : 'wait'
  }

  /** SIGTERM is sent now; SIGKILL is due at the same moment after the renewal as ever, or at once. */
  fence(renewedMs: number, nowMs: number): void {
    this.#killAtMs = Math.max(renewedMs + this.#timings.killAfterMs, nowMs)
  }

  /** When `action` will say something else than `wait`. */
  dueMs(renewedMs: number): number {
    return this.#killAtMs ?? this.#deadlineMs(renewedMs)
  }

  #deadlineMs(renewedMs: number): number {
    return Math.max(renewedMs + this.#timings.terminateAfterMs, this.#lookUntilMs)
  }
}

/** For how long nothing ran, beyond what a busy machine explains; 0 if it ran as planned. */
export function stallOf(plannedMs: number, nowMs: number, tickMs: number): number {
  const lateMs = nowMs - plannedMs
  return lateMs > tickMs * SUSPENDED_TICKS ? lateMs : 0
}

/** Notices steps of the wall clock. A suspension is none: the boot clock counts it too. */
export class WallSteps {
  #aheadMs: number

  constructor(wallMs: number, bootMs: number) {
    this.#aheadMs = wallMs - bootMs
  }

  /** Whether the wall clock was stepped since the last call. Slow corrections never add up to a step. */
  stepped(wallMs: number, bootMs: number): boolean {
    const beforeMs = this.#aheadMs
    this.#aheadMs = wallMs - bootMs
    return Math.abs(this.#aheadMs - beforeMs) > WALL_STEP_MS
  }
}
