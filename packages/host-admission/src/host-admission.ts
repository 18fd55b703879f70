/**
 * One live instance per agent on this host: claims the lease before anything is started, keeps it renewed, and makes sure
 * that what ran under an older claim is gone before a new one is granted. It fails closed (R7).
 */
import { dirname } from 'node:path'
import {
  type AgentRef,
  type Clock,
  createSystemClock,
  type HostIdentity,
  type InstanceIdentity,
  type LeaseTimings,
  leaseTimings
} from '@agentmux/lease-model'
import {
  type ClaimResult,
  type EndingResult,
  LeaseFault,
  LeaseStore,
  leaseKey,
  type PreviousClaim
} from '@agentmux/lease-store'
import type { Refusal } from '@agentmux/refusals'
import { endClaimProcesses } from './claim-processes.js'
import { type ClaimantInfo, claimantInfo } from './claimant-info.js'
import { HeldAgentLease, type LeaseHome } from './held-agent-lease.js'
import { refusalOfClaim, refusalOfFault } from './refusal-of.js'
import { onlyWeCanWrite } from './signal-permission.js'
import { Watchdog } from './watchdog.js'

export interface HostAdmissionOptions {
  readonly registryRoot: string
  readonly instance: InstanceIdentity
  readonly host?: HostIdentity
  readonly clock?: Clock
  /** The TTL of leases taken here, milliseconds; 15,000 unless given. */
  readonly ttlMs?: number
  /** Between SIGTERM and SIGKILL for the processes of an older claim, milliseconds; 1,000 unless given. */
  readonly previousGraceMs?: number
  /** Told of faults that are not losses, for the log. */
  readonly onFault?: (agent: AgentRef, fault: unknown) => void
}

export interface AcquireOptions {
  /** The pane that will drive the agent. */
  readonly blockId: string
  readonly sessionId?: string
  /** The highest epoch seen in the shared record (R10). */
  readonly epochFloor?: number
  readonly signal?: AbortSignal
  /** Called once, when the lease is lost; not when it is released. */
  readonly onLost?: (refusal: Refusal) => void
}

export type AcquireResult =
  | { readonly kind: 'granted'; readonly lease: HeldAgentLease }
  /** Somebody else drives the agent, or processes of the claim before could not be ended. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Could not find out: only watching can tell (`retryAfterMs`), or the lease files cannot be used. */
  | { readonly kind: 'unknown'; readonly refusal: Refusal; readonly retryAfterMs?: number }

const PREVIOUS_GRACE_MS = 1_000
/** An I/O error at a claim is tried once more after this long. */
const CLAIM_RETRY_MS = 100
/** After a suspension renewals are spread by this much each, so that thousands do not stall the process. */
const SPREAD_MS = 0.2

export class HostAdmission {
  readonly store: LeaseStore
  readonly #clock: Clock
  readonly #timings: LeaseTimings
  readonly #options: HostAdmissionOptions
  readonly #held = new Set<HeldAgentLease>()
  readonly #home: LeaseHome
  #watchdog: Watchdog | undefined

  constructor(options: HostAdmissionOptions) {
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
    this.#home = {
      store: this.store,
      clock: this.#clock,
      timings: this.#timings,
      onGone: (lease) => this.#held.delete(lease),
      onFault: options.onFault ?? (() => {})
    }
  }

  /** Who this process is to others. */
  get claimant(): ClaimantInfo {
    return claimantInfo(this.store.instance, this.store.host)
  }

  /** The leases held here now. */
  get held(): ReadonlySet<HeldAgentLease> {
    return this.#held
  }

  /** Starts the watchdog thread ahead of the first `acquire`, which waits for it. */
  warmUp(): void {
    this.#startWatchdog()
  }

  /**
   * Asks for the agent's lease. Nothing shared is written before the answer (R9), and nobody is made to let go.
   *
   * @throws TypeError or RangeError for what cannot be a UID; the signal's reason. Nothing is held then.
   */
  async acquire(agent: AgentRef, options: AcquireOptions): Promise<AcquireResult> {
    leaseKey(agent.uid)
    const watchdog = this.#startWatchdog()
    let result: ClaimResult
    const askedAtMs = this.#clock.bootMs()
    try {
      result = await this.#claim(agent, options)
    } catch (fault) {
      if (!(fault instanceof LeaseFault)) throw fault
      return { kind: 'unknown', refusal: refusalOfFault(agent, fault) }
    }
    if (result.kind !== 'granted') {
      const refusal = refusalOfClaim(agent, result, this.#clock)
      if (result.kind === 'refused') return { kind: 'refused', refusal }
      return { kind: 'unknown', refusal, retryAfterMs: result.retryAfterMs }
    }
    const lease = new HeldAgentLease(this.#home, result.lease, { agent, onLost: options.onLost })
    this.#held.add(lease)
    lease.begin(watchdog.guard(lease.claimId, askedAtMs, () => lease.fence()))
    try {
      // Without the watchdog nothing may be started; and what an older claim of ours started must be gone.
      await watchdog.ready()
      if (result.previous?.why === 'reclaimed') {
        const ending = await this.#endPrevious(result.previous, options.signal)
        if (ending.kind === 'remaining') {
          await lease.release()
          const { holder } = result.previous
          const refusal = refusalOfClaim(
            agent,
            { kind: 'refused', holder, remaining: ending.processes },
            this.#clock
          )
          return { kind: 'refused', refusal }
        }
      }
      options.signal?.throwIfAborted()
    } catch (error) {
      await lease.release()
      throw error
    }
    return { kind: 'granted', lease }
  }

  /** Releases every lease held here, ending what runs under them, and stops the watchdog. */
  async close(options: { graceMs?: number } = {}): Promise<void> {
    await Promise.allSettled([...this.#held].map((lease) => lease.release(options)))
    await this.#watchdog?.close()
    this.#watchdog = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #claim(agent: AgentRef, options: AcquireOptions): Promise<ClaimResult> {
    const request = {
      agent,
      blockId: options.blockId,
      ...(options.sessionId === undefined ? {} : { sessionId: options.sessionId }),
      ...(options.epochFloor === undefined ? {} : { epochFloor: options.epochFloor }),
      ...(options.signal === undefined ? {} : { signal: options.signal })
    }
    try {
      return await this.store.claim(request)
    } catch (fault) {
      // A fault that names its own remedy will not go away by itself.
      if (!(fault instanceof LeaseFault) || fault.code !== 'io') throw fault
      await this.#clock.sleep(CLAIM_RETRY_MS, options.signal)
      return this.store.claim(request)
    }
  }

  async #endPrevious(previous: PreviousClaim, signal: AbortSignal | undefined): Promise<EndingResult> {
    const { folder } = this.store
    const leaseFile = this.store.pathOf(previous.uid)
    const ended = await endClaimProcesses(previous.claimId, {
      clock: this.#clock,
      graceMs: this.#options.previousGraceMs ?? PREVIOUS_GRACE_MS,
      trusted: onlyWeCanWrite([dirname(folder), folder, leaseFile]),
      signal
    })
    if (ended.kind === 'ended') return ended
    return {
      kind: 'remaining',
      processes: ended.processes.map(({ pid, command, because }) => ({ pid, command, why: because }))
    }
  }

  #startWatchdog(): Watchdog {
    this.#watchdog ??= new Watchdog(this.#timings, {
      onLook: () => {
        let index = 0
        for (const lease of this.#held) lease.renewSoon(index++ * SPREAD_MS)
      },
      onFailure: () => {
        this.#watchdog = undefined
        for (const lease of this.#held) lease.fence()
      }
    })
    return this.#watchdog
  }
}
