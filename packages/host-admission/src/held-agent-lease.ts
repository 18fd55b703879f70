/**
 * An agent's lease while it is held: renews itself, tells once when it is lost, ends its processes, and is given up only
 * when none of them is left. Made by HostAdmission.
 */
import type { AgentRef, CancelTimer, Clock, LeaseTimings } from '@agentmux/lease-model'
import type { Lease, LeaseFault, LeaseStore, Loss } from '@agentmux/lease-store'
import type { Refusal, RemainingProcess } from '@agentmux/refusals'
import { childEnvironment } from './child-environment.js'
import { type EndedProcesses, endClaimProcesses } from './claim-processes.js'
import { describeProcess } from './process-table.js'
import { refusalOfLoss, refusalOfUnconfirmed } from './refusal-of.js'
import type { Guard } from './watchdog.js'

/** What a lease needs of the admission that made it. */
export interface LeaseHome {
  readonly store: LeaseStore
  readonly clock: Clock
  readonly timings: LeaseTimings
  /** Called when the lease is no longer held here, for whatever reason. */
  readonly onGone: (lease: HeldAgentLease) => void
  /** Something went wrong that is not, by itself, a loss: a renewal that failed, say. */
  readonly onFault: (agent: AgentRef, fault: unknown) => void
}

export interface HeldLeaseOptions {
  readonly agent: AgentRef
  readonly onLost?: ((refusal: Refusal) => void) | undefined
}

export interface LostCheck {
  readonly kind: 'lost'
  readonly refusal: Refusal
}

export type HeldCheck = { readonly kind: 'held' } | LostCheck

export type StartResult<T> = { readonly kind: 'started'; readonly child: T } | LostCheck

export type GivenUp =
  | { readonly kind: 'released' }
  /** It was lost before, or given up already. The lease of whoever has it now is untouched. */
  | { readonly kind: 'not-held' }
  /** Processes of this claim would not end, so the lease is kept: it runs out by itself. */
  | { readonly kind: 'remaining'; readonly processes: readonly RemainingProcess[] }

/** What `start` needs to know of the child it started. */
export interface StartedChild {
  readonly pid?: number | undefined
}

/** After a loss the child gets this long between SIGTERM and SIGKILL; a longer grace was for orderly ends. */
const LOSS_GRACE_MS = 2_000
/** A renewal that failed is tried again after this long at most. */
const RETRY_MS = 1_000

export class HeldAgentLease {
  readonly agent: AgentRef
  readonly claimId: string
  readonly epoch: number
  readonly blockId: string
  readonly acquiredAtMs: number
  readonly #home: LeaseHome
  readonly #onLost: ((refusal: Refusal) => void) | undefined
  readonly #lostSignal = new AbortController()
  #lease: Lease
  #guard: Guard | undefined
  #loss: Refusal | undefined
  #state: 'held' | 'lost' | 'released' = 'held'
  #cancelTimer: CancelTimer = () => {}
  #renewing: Promise<void> | undefined
  #givingUp: Promise<GivenUp> | undefined
  #fencing: Promise<EndedProcesses> | undefined

  constructor(home: LeaseHome, lease: Lease, options: HeldLeaseOptions) {
    this.#home = home
    this.#lease = lease
    this.agent = options.agent
    this.claimId = lease.claimId
    this.epoch = lease.epoch
    this.blockId = lease.blockId
    this.acquiredAtMs = lease.acquiredAtMs
    this.#onLost = options.onLost
  }

  /** Why the lease was lost: the first reason, for ever. Undefined while it is held, and after a release. */
  get loss(): Refusal | undefined {
    return this.#loss
  }

  get held(): boolean {
    return this.#state === 'held' && this.#guard?.fenced !== true
  }

  /** Aborted at the loss, with the refusal as its reason. */
  get lostSignal(): AbortSignal {
    return this.#lostSignal.signal
  }

  /** The variables to add to the environment of every process started under this lease. */
  get environment(): Record<string, string> {
    return childEnvironment(this)
  }

  /** Starts the renewals, at a random point of the interval: ten thousand leases must not renew in step. */
  begin(guard: Guard): void {
    this.#guard = guard
    this.#plan(Math.ceil(Math.random() * this.#home.timings.renewIntervalMs))
  }

  /**
   * Whether a turn may be started now (R4): asks memory, then the lease file.
   *
   * @throws LeaseFault if the file cannot be read: neither held nor lost, so start nothing.
   */
  async verify(): Promise<HeldCheck> {
    const here = this.#checkHere()
    if (here !== undefined) return here
    const result = await this.#home.store.verify(this.#lease)
    if (result.kind === 'lost') this.#lose(result.loss)
    return this.#checkHere() ?? { kind: 'held' }
  }

  /**
   * Starts the child that drives the agent, only if the lease is still ours, and so that nobody can claim it in
   * between. `spawn` must be synchronous and must pass `environment` on. `ownGroup`: the child leads its own group.
   *
   * @throws LeaseFault if the lease file cannot be used; whatever `spawn` throws. Nothing runs then.
   */
  async start<T extends StartedChild>(
    spawn: () => T,
    options: { ownGroup: boolean }
  ): Promise<StartResult<T>> {
    const here = this.#checkHere()
    if (here !== undefined) return here
    const result = await this.#home.store.whileHeld(this.#lease, () => {
      if (this.#checkHere() !== undefined) return undefined
      const child = spawn()
      if (child.pid !== undefined) this.#guard?.setDriver({ pid: child.pid, ownGroup: options.ownGroup })
      return child
    })
    if (result.kind === 'lost') this.#lose(result.loss)
    if (result.kind === 'lost' || result.value === undefined) {
      return this.#checkHere() ?? { kind: 'lost', refusal: this.#loseUnconfirmed() }
    }
    const child = result.value
    if (child.pid !== undefined)
      void this.#renewNow({ pid: child.pid, ticks: describeProcess(child.pid)?.startTicks ?? 0 })
    return { kind: 'started', child }
  }

  /** To be called once the driving child has exited: its pid means nothing from then on. */
  driverExited(): void {
    this.#guard?.setDriver(undefined)
  }

  /** Renews without waiting for the timer: after a suspension or a step of the wall clock. */
  renewSoon(delayMs: number): void {
    if (this.#state === 'held' && this.#renewing === undefined) this.#plan(delayMs)
  }

  /** Ends everything that carries the claim: SIGTERM, the grace (ms), SIGKILL. Resolves when it has exited. */
  endProcesses(graceMs: number, signal?: AbortSignal): Promise<EndedProcesses> {
    return endClaimProcesses(this.claimId, { clock: this.#home.clock, graceMs, trusted: true, signal })
  }

  /** Resolves when the processes of a lost lease are gone, or would not go. At once if the lease is not lost. */
  async fenced(): Promise<EndedProcesses> {
    return (await this.#fencing) ?? { kind: 'ended', count: 0 }
  }

  /**
   * Gives the lease up, once no process of the claim is left (R12): those that are get SIGTERM, `graceMs`, SIGKILL.
   * Again, or after a loss, it does nothing.
   *
   * @throws LeaseFault if the file could not be removed; the lease then runs out by itself.
   */
  release(options: { graceMs?: number } = {}): Promise<GivenUp> {
    this.#givingUp ??= this.#release(options.graceMs ?? LOSS_GRACE_MS)
    return this.#givingUp
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** The watchdog has stopped the child: whatever the file says, this lease is not used again. */
  fence(): void {
    this.#loseUnconfirmed()
  }

  async #release(graceMs: number): Promise<GivenUp> {
    if (this.#state === 'lost') await this.#fencing
    // Still renewed and guarded while its processes end: the lease covers them until the last is gone.
    const ended = await this.endProcesses(graceMs)
    if (ended.kind === 'remaining') {
      this.#stop()
      return ended
    }
    const wasLost = this.#state === 'lost'
    this.#stop()
    if (!wasLost) this.#state = 'released'
    await this.#renewing
    // After an unconfirmed loss the file may still be ours: give it back, the child is gone.
    const result = await this.#home.store.release(this.#lease)
    return wasLost ? { kind: 'not-held' } : { kind: result.kind }
  }

  #checkHere(): LostCheck | undefined {
    if (this.#guard?.fenced === true && this.#state === 'held') this.#loseUnconfirmed()
    if (this.#loss !== undefined) return { kind: 'lost', refusal: this.#loss }
    if (this.#state === 'released') {
      return { kind: 'lost', refusal: refusalOfLoss(this.agent, { why: 'missing' }, this.#home.clock) }
    }
    return undefined
  }

  #plan(delayMs: number): void {
    this.#cancelTimer()
    if (this.#state !== 'held') return
    this.#cancelTimer = this.#home.clock.after(delayMs, () => void this.#renewNow())
  }

  async #renewNow(driver?: { pid: number; ticks: number }): Promise<void> {
    await this.#renewing
    if (this.#state !== 'held') return
    this.#renewing = this.#renew(driver)
    await this.#renewing
    this.#renewing = undefined
  }

  async #renew(driver: { pid: number; ticks: number } | undefined): Promise<void> {
    this.#cancelTimer()
    const { store, clock, timings } = this.#home
    const startedMs = clock.bootMs()
    try {
      const result = await store.renew(
        this.#lease,
        driver === undefined ? undefined : { pid: driver.pid, startTicks: driver.ticks }
      )
      if (this.#state !== 'held') return
      if (result.kind === 'lost') {
        this.#lose(result.loss)
        return
      }
      this.#lease = result.lease
      if (this.#guard?.confirm(startedMs) === false) {
        this.#loseUnconfirmed()
        return
      }
      this.#plan(startedMs + timings.renewIntervalMs - clock.bootMs())
    } catch (fault) {
      // Not a loss by itself: the watchdog has the deadline. Try again soon.
      this.#home.onFault(this.agent, fault)
      this.#plan(Math.min(RETRY_MS, timings.renewIntervalMs / 5))
    }
  }

  #lose(loss: Loss): void {
    this.#recordLoss(refusalOfLoss(this.agent, loss, this.#home.clock))
  }

  #loseUnconfirmed(): Refusal {
    return this.#recordLoss(refusalOfUnconfirmed(this.agent, this.#home.clock))
  }

  /** Once: the first reason is the one that every later check repeats. The processes are stopped at once. */
  #recordLoss(refusal: Refusal): Refusal {
    if (this.#state !== 'held') return this.#loss ?? refusal
    this.#state = 'lost'
    this.#loss = refusal
    this.#cancelTimer()
    this.#fencing = this.endProcesses(LOSS_GRACE_MS).finally(() => this.#stop())
    this.#fencing.catch(() => {})
    this.#lostSignal.abort(refusal)
    this.#onLost?.(refusal)
    return refusal
  }

  #stop(): void {
    this.#cancelTimer()
    this.#guard?.dismiss()
    this.#home.onGone(this)
  }
}
