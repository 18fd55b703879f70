/**
 * One live instance per agent on this host: claims the lease before anything is started, keeps it renewed, and makes sure
 * that what ran under an older claim is gone before a new one is granted. It fails closed (R7).
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type AgentRef,
  type Clock,
  createSystemClock,
  type LeaseTimings,
  leaseTimings
} from '@agentmux/lease-model'
import {
  type EndingResult,
  LeaseFault,
  LeaseStore,
  leaseKey,
  type PreviousClaim
} from '@agentmux/lease-store'
import { AdmissionFault } from './admission-fault.js'
import type { AcquireOptions, AcquireResult, HostAdmissionOptions } from './admission-options.js'
import { checkAcquireOptions, checkAdmissionOptions } from './check-options.js'
import { type ClaimHome, claimAtSpawn, type GrantedClaim, heldForAnother } from './claim-at-spawn.js'
import { ClaimLook } from './claim-look.js'
import type { EndedProcesses } from './claim-processes.js'
import { type ClaimantInfo, claimantInfo } from './claimant-info.js'
import { HeldAgentLease } from './held-agent-lease.js'
import { HeldByName } from './held-by-name.js'
import { HeldLeases } from './held-leases.js'
import type { LeaseHome } from './lease-home.js'
import { LinkedAbort } from './linked-abort.js'
import { endPreviousClaim } from './previous-claim.js'
import { RecordFault } from './record/record-fault.js'
import { refusalOfFault, refusalOfLoss, refusalOfRemaining } from './refusal-of.js'
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
  readonly #home: LeaseHome
  readonly #claimHome: ClaimHome
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
    this.#claimHome = { store, holds: this.holds, clock: this.#clock, record, advice }
    const events = {
      onLook: () => this.#renewAll(),
      onFailure: () => {
        for (const lease of this.#held.all) lease.fence()
      }
    }
    this.#watchdog = new RunningWatchdog(this.#timings, events, options.watchdogThread)
    this.#home = {
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
    const result = this.#acquire(agent, options, watchdog, abort.signal)
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

  async #acquire(
    agent: AgentRef,
    options: AcquireOptions,
    watchdog: Watchdog,
    signal: AbortSignal
  ): Promise<AcquireResult> {
    const superseded: HeldAgentLease[] = []
    let granted = false
    try {
      // A claim that nobody contends never waits for anything: thousands in a row would keep every renewal waiting.
      await nextTurn()
      // Before anything of ours is ended: a hold keeps what runs here as it is.
      const kept = heldForAnother(this.#claimHome, agent)
      if (kept !== undefined) return kept
      const ended = await this.#endOwn(agent.uid, options.blockId, superseded)
      if (ended.kind === 'remaining') {
        return { kind: 'refused', refusal: refusalOfRemaining(agent, ended.processes) }
      }
      signal.throwIfAborted()
      const result = await claimAtSpawn(this.#claimHome, agent, { options, signal })
      if (result.kind !== 'granted') return result
      granted = true
      return await this.#hold(agent, result, { options, watchdog, signal })
    } catch (fault) {
      if (!(fault instanceof LeaseFault || fault instanceof RecordFault)) throw fault
      return { kind: 'unknown', refusal: refusalOfFault(agent, fault) }
    } finally {
      // Nothing runs under them any more; kept until here so that a new claim has their epoch and their start.
      if (!granted) for (const lease of superseded) await lease.release()
    }
  }

  /** Before a claim nothing of ours may be left of an older one: whoever claims after a crash only knows the newest. */
  async #endOwn(uid: string, blockId: string, superseded: HeldAgentLease[]): Promise<EndedProcesses> {
    for (const lease of this.#held.of(uid)) {
      if (lease.blockId !== blockId && lease.loss === undefined) continue
      superseded.push(lease)
      const ended = await lease.supersede()
      if (ended.kind === 'remaining') return ended
    }
    return { kind: 'ended', count: 0 }
  }

  /** From the grant to the caller: guarded from the first moment, and given back if anything goes wrong. */
  async #hold(
    agent: AgentRef,
    { lease: claimed, previous }: GrantedClaim,
    { options, watchdog, signal }: { options: AcquireOptions; watchdog: Watchdog; signal: AbortSignal }
  ): Promise<AcquireResult> {
    const lease = new HeldAgentLease(this.#home, claimed, agent)
    this.#held.add(lease)
    this.names.add(lease)
    lease.begin(
      watchdog.guard(lease.claimId, claimed.renewedBootMs, () => lease.fence()),
      previous
    )
    let handedOver = false
    try {
      // Without the watchdog nothing may be started.
      await watchdog.ready(signal)
      await this.#makeKnown(lease, signal)
      signal.throwIfAborted()
      if (lease.loss !== undefined) return { kind: 'refused', refusal: lease.loss }
      if (options.onLost !== undefined) lease.listen(options.onLost)
      handedOver = true
      return { kind: 'granted', lease }
    } finally {
      if (!handedOver) await lease.release().catch((fault: unknown) => this.#report(agent, fault))
    }
  }

  /** From here on the record turns away what an older holder still sends. A later epoch in it means that we are not the last. */
  async #makeKnown(lease: HeldAgentLease, signal: AbortSignal): Promise<void> {
    const { record } = this.#options
    if (record === undefined) return
    const { agent, epoch } = lease
    const result = await record.append(agent.uid, { events: [], epoch, signal })
    if (result.kind === 'rejected') lease.fence(refusalOfLoss(agent, { why: 'taken' }, this.#clock))
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
