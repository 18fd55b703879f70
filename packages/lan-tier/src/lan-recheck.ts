/**
 * Looks again and again whether an agent that runs here runs on another computer too, and says when it has to be given up.
 * All agents in one question to each peer and tick; never two looks at once; jittered, so that instances which started
 * together do not ask together.
 */
import type { Clock } from '@agentmux/lease-model'
import type { LanHolder } from './holdings/lan-look.js'
import { contenderOf, type OwnLease } from './holdings/own-lease.js'
import type { ContestOutcome } from './tie-break/contest.js'
import { type Ask, resolveContests } from './tie-break/resolve-contests.js'

/** After a start, in which two computers may not have seen each other. */
export const FIRST_RECHECK_MS = 2_000
/** Six renewals. */
export const RECHECK_MS = 30_000
const FIRST_JITTER_MS = 500
/** After a winner that could not be confirmed, once; then it is RECHECK_MS again, whatever others do. */
const UNCONFIRMED_MS = 5_000
/** Earlier by up to this share, never later: two drivers are found within RECHECK_MS. */
const JITTER = 0.1

export interface LanRecheckOptions {
  /** What is driven here now, by UID, from the lease files. */
  readonly held: () => ReadonlyMap<string, OwnLease>
  /** `LanHoldings.ask`. */
  readonly ask: Ask
  readonly clock: Clock
  /**
   * The agent is to be given up to `holder`. When it returns, the agent is no longer held: from then on whoever asks is
   * told so (R4). Stopping the child may take longer.
   */
  readonly onYield: (uid: string, holder: LanHolder) => void
  /** How each contest ended, yields included: for the log. */
  readonly onOutcome?: (uid: string, outcome: ContestOutcome) => void
  /** Something in here failed: what is held stays held (R7). */
  readonly onFault?: (fault: unknown) => void
  /** Milliseconds; RECHECK_MS unless given. */
  readonly everyMs?: number
  /** 0 up to 1; Math.random unless given. */
  readonly random?: () => number
}

export class LanRecheck {
  readonly #options: LanRecheckOptions
  readonly #random: () => number
  readonly #everyMs: number
  readonly #ending = new AbortController()
  readonly #yielding = new Set<string>()
  #dueMs = Number.POSITIVE_INFINITY
  #cancelTimer = () => {}
  #looking = false
  #unconfirmed = false
  #lookingSooner = false
  #looked: Promise<void> = Promise.resolve()

  /** Asks nothing before `agentStarted`. @throws RangeError for an interval that is none. */
  constructor(options: LanRecheckOptions) {
    const { everyMs = RECHECK_MS, random = Math.random } = options
    if (!(everyMs >= 100 && everyMs <= 3_600_000)) {
      throw new RangeError(`everyMs must be from 100 to 3600000, not ${everyMs}`)
    }
    this.#options = options
    this.#everyMs = everyMs
    this.#random = random
  }

  /** An agent was started here, or the LAN was switched on while some run: look in 2 s, at all of them. */
  agentStarted(): void {
    this.#schedule(FIRST_RECHECK_MS + this.#random() * FIRST_JITTER_MS)
  }

  /**
   * Whether the agent is about to be given up, subject to one last answer. Say so as `yielding: true` in the answer to a
   * holding question: whoever reads it does not yield to us, so that two never yield to each other.
   */
  isYielding(uid: string): boolean {
    return this.#yielding.has(uid)
  }

  /** Resolves when nothing is being asked any more. What runs here goes on. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('the LAN re-check is closed'))
    this.#cancelTimer()
    await this.#looked
  }

  #schedule(delayMs: number): void {
    const { clock } = this.#options
    const dueMs = clock.bootMs() + delayMs
    if (this.#ending.signal.aborted || dueMs >= this.#dueMs) return
    this.#dueMs = dueMs
    // While a look is under way its end sets the timer.
    if (!this.#looking) this.#arm(delayMs)
  }

  #arm(delayMs: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#options.clock.after(delayMs, () => {
      this.#dueMs = Number.POSITIVE_INFINITY
      this.#looked = this.#lookAndRearm()
    })
  }

  async #lookAndRearm(): Promise<void> {
    this.#looking = true
    this.#unconfirmed = false
    let anyHeld = true
    try {
      const leases = new Map(this.#options.held())
      anyHeld = leases.size > 0
      await this.#look(leases)
    } catch (fault) {
      if (!this.#ending.signal.aborted) this.#options.onFault?.(fault)
    }
    this.#looking = false
    if (this.#ending.signal.aborted) return
    if (this.#dueMs < Number.POSITIVE_INFINITY) {
      this.#arm(Math.max(0, this.#dueMs - this.#options.clock.bootMs()))
    } else if (anyHeld) {
      this.#lookingSooner = this.#unconfirmed && !this.#lookingSooner
      const delayMs = this.#lookingSooner ? Math.min(UNCONFIRMED_MS, this.#everyMs) : this.#everyMs
      this.#schedule(delayMs * (1 - JITTER * this.#random()))
    }
  }

  async #look(leases: ReadonlyMap<string, OwnLease>): Promise<void> {
    const { ask, clock } = this.#options
    await resolveContests({
      mine: new Map(Array.from(leases, ([uid, lease]) => [uid, contenderOf(lease)] as const)),
      ask,
      clock,
      signal: this.#ending.signal,
      random: this.#random,
      onAsking: (uids, asking) => {
        for (const uid of uids) asking ? this.#yielding.add(uid) : this.#yielding.delete(uid)
      },
      settle: (uid, outcome) => this.#settle(uid, leases.get(uid)?.claimId ?? '', outcome)
    })
  }

  /** What goes wrong with one agent is told and does not keep the others from being settled. */
  #settle(uid: string, claimId: string, outcome: ContestOutcome): void {
    const { held, onYield, onOutcome, onFault } = this.#options
    this.#unconfirmed ||= outcome.kind === 'unknown' && outcome.because === 'unconfirmed'
    try {
      // Ended here meanwhile, or claimed anew: then it is not this claim that is to be given up.
      if (outcome.kind === 'yield' && held().get(uid)?.claimId === claimId) onYield(uid, outcome.to)
      onOutcome?.(uid, outcome)
    } catch (fault) {
      onFault?.(fault)
    }
  }
}
