/**
 * One live instance per agent on this host: claims the lease before anything is started, keeps it renewed, and makes sure
 * that what ran under an older claim is gone before a new one is granted. It fails closed (R7).
 */
import {
  type AgentRef,
  type Clock,
  createSystemClock,
  type LeaseTimings,
  leaseTimings
} from '@agentmux/lease-model'
import { type EndingResult, LeaseStore, leaseKey, type PreviousClaim } from '@agentmux/lease-store'
import { Acquiring } from './acquiring.js'
import { AdmissionFault } from './admission-fault.js'
import type { AcquireOptions, AcquireResult, HostAdmissionOptions } from './admission-options.js'
import { checkAcquireOptions, checkAdmissionOptions } from './check-options.js'
import { ClaimLook } from './claim-look.js'
import { type ClaimantInfo, claimantInfo } from './claimant-info.js'
import type { HeldAgentLease } from './held-agent-lease.js'
import { HeldByName } from './held-by-name.js'
import { HeldLeases } from './held-leases.js'
import type { LeaseHome } from './lease-home.js'
import { LinkedAbort } from './linked-abort.js'
import { endPreviousClaim } from './previous-claim.js'
import { RunningWatchdog } from './running-watchdog.js'
import { HandoverHolds } from './takeover/handover-holds.js'
import type { Watchdog } from './watchdog.js'

const PREVIOUS_GRACE_MS = 1_000
/** After a suspension renewals are spread by this much each, so that thousands do not stall the process. */
const SPREAD_MS = 0.2

export class HostAdmission {
  readonly store: LeaseStore
  /** The agents that were handed over a moment ago: nobody but their successor acquires them. */
  readonly holds: HandoverHolds
  /** The leases held here by the name of their agent. */
  readonly names = new HeldByName()
  readonly #clock: Clock
  readonly #timings: LeaseTimings
  readonly #options: HostAdmissionOptions
  readonly #held = new HeldLeases()
  readonly #acquisition: Acquiring
  readonly #look = new ClaimLook()
  readonly #acquiring = new Map<LinkedAbort, Promise<AcquireResult>>()
  readonly #watchdog: RunningWatchdog
  #closed = false

  /** @throws TypeError or RangeError for options that cannot be. Touches nothing. */
  constructor(options: HostAdmissionOptions) {
    checkAdmissionOptions(options)
    this.#options = options
    this.#clock = options.clock ?? createSystemClock()
    this.#timings = leaseTimings(options.ttlMs)
    this.store = LeaseStore.open(options.registryRoot, {
      instance: options.instance,
      clock: this.#clock,
      ttlMs: this.#timings.ttlMs,
      endPrevious: (previous, signal) => this.#endPrevious(previous, signal),
      ...(options.host === undefined ? {} : { host: options.host })
    })
    const { store } = this
    this.holds = new HandoverHolds({ store, onFault: (uid, fault) => this.#report({ uid }, fault) })
    const { record, advice } = options
    const claims = { store, holds: this.holds, clock: this.#clock, record, advice }
    const events = {
      onLook: () => this.#renewAll(),
      onFailure: () => {
        for (const lease of this.#held.all) lease.fence()
      }
    }
    this.#watchdog = new RunningWatchdog(this.#timings, events, options.watchdogThread)
    const leases: LeaseHome = {
      store,
      clock: this.#clock,
      timings: this.#timings,
      look: this.#look,
      onGone: (lease) => {
        this.#held.delete(lease)
        this.names.remove(lease)
      },
      onFault: (agent, fault) => this.#report(agent, fault)
    }
    this.#acquisition = new Acquiring({ claims, leases, held: this.#held, names: this.names })
  }

  /** Who this process is to others. */
  get claimant(): ClaimantInfo {
    return claimantInfo(this.store.instance, this.store.host)
  }

  /** The leases held here now, and those that were lost and whose processes are still being ended. */
  get held(): ReadonlySet<HeldAgentLease> {
    return this.#held.all
  }

  /** Starts the watchdog thread ahead of the first `acquire`, which waits for it. @throws AdmissionFault */
  warmUp(): void {
    this.#startWatchdog()
  }

  /**
   * Asks for the agent's lease. Nothing shared is written before the answer (R9), and nobody is made to let go. The
   * block that holds it already, in this process, gets it anew: same epoch, but first all that ran under it is ended.
   *
   * @throws TypeError or RangeError for what cannot be a UID or an option; the signal's reason; AdmissionFault. Nothing
   * is held then.
   */
  async acquire(agent: AgentRef, options: AcquireOptions): Promise<AcquireResult> {
    leaseKey(agent.uid)
    checkAcquireOptions(options)
    const watchdog = this.#startWatchdog()
    const abort = new LinkedAbort(options.signal)
    const result = this.#acquisition.acquire(agent, options, { watchdog, signal: abort.signal })
    this.#acquiring.set(abort, result)
    try {
      return await result
    } finally {
      abort.unlink()
      this.#acquiring.delete(abort)
    }
  }

  /**
   * Stops what is being acquired, releases every lease held here, ending what runs under them, and stops the watchdog.
   * What could not be released runs out by itself; why goes to `onFault`.
   */
  async close(options: { graceMs?: number } = {}): Promise<void> {
    this.#closed = true
    for (const abort of this.#acquiring.keys()) abort.abort(closedFault())
    await Promise.allSettled([...this.#acquiring.values()])
    const releases = [...this.#held.all].map((lease) =>
      lease.release(options).catch((fault: unknown) => this.#report(lease.agent, fault))
    )
    await Promise.all(releases)
    await this.#watchdog.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #endPrevious(previous: PreviousClaim, signal: AbortSignal | undefined): Promise<EndingResult> {
    const graceMs = this.#options.previousGraceMs ?? PREVIOUS_GRACE_MS
    const { store } = this
    const home = { store, clock: this.#clock, look: this.#look, held: this.#held, graceMs }
    return endPreviousClaim(home, previous, signal)
  }

  #startWatchdog(): Watchdog {
    if (this.#closed) throw closedFault()
    return this.#watchdog.start()
  }

  /** Spread, but all within a part of the time that the watchdog gives for it. */
  #renewAll(): void {
    const { killAfterMs, terminateAfterMs } = this.#timings
    const leases = this.#held.all
    const spreadMs = Math.min(SPREAD_MS, (killAfterMs - terminateAfterMs) / 4 / leases.size)
    let index = 0
    for (const lease of leases) lease.renewSoon(index++ * spreadMs)
  }

  /** A log that fails must not stop what it was told about. */
  #report(agent: AgentRef, fault: unknown): void {
    try {
      this.#options.onFault?.(agent, fault)
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error))
    }
  }
}

function closedFault(): AdmissionFault {
  return new AdmissionFault('closed', 'this admission is closed')
}
