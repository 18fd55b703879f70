/**
 * An agent's lease while it is held: renews itself, tells once when it is lost, ends its processes, and is given up only
 * when none of them is left. Made by HostAdmission.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import type { Lease, Loss, PreviousClaim } from '@agentmux/lease-store'
import type { Refusal } from '@agentmux/refusals'
import { childEnvironment } from './child-environment.js'
import { ClaimEnding } from './claim-ending.js'
import type { EndedProcesses } from './claim-processes.js'
import { DriverRecord } from './driver-record.js'
import type { GivenUp, HeldCheck, LostCheck, StartedChild, StartResult } from './held-answers.js'
import type { LeaseHome } from './lease-home.js'
import { LossRecord } from './loss-record.js'
import { refusalOfLoss, refusalOfUnconfirmed } from './refusal-of.js'
import { Renewals } from './renewals.js'
import type { Guard } from './watchdog.js'

export class HeldAgentLease {
  readonly agent: AgentRef
  readonly claimId: string
  readonly epoch: number
  readonly blockId: string
  readonly acquiredAtMs: number
  readonly #home: LeaseHome
  readonly #loss: LossRecord
  readonly #renewals: Renewals
  readonly #driver = new DriverRecord()
  readonly #ending: ClaimEnding
  /** Between SIGTERM and SIGKILL when no grace was asked for, or after a loss, whatever was. */
  readonly #graceMs: number
  #lease: Lease
  #guard: Guard | undefined
  #previous: PreviousClaim | undefined
  /** `ending`: it is being given up; still renewed and guarded, but nothing is started any more. */
  #state: 'held' | 'ending' | 'lost' | 'given-up' = 'held'
  #givingUp: Promise<GivenUp> | undefined
  #fencing: Promise<EndedProcesses> | undefined

  constructor(home: LeaseHome, lease: Lease, agent: AgentRef) {
    this.#home = home
    this.#lease = lease
    this.agent = agent
    this.claimId = lease.claimId
    this.epoch = lease.epoch
    this.blockId = lease.blockId
    this.acquiredAtMs = lease.acquiredAtMs
    const onFault = (fault: unknown) => home.onFault(agent, fault)
    this.#graceMs = home.timings.killAfterMs - home.timings.terminateAfterMs
    this.#loss = new LossRecord(onFault)
    this.#ending = new ClaimEnding(home, { agent, claimId: lease.claimId, driver: this.#driver })
    this.#renewals = new Renewals({ ...home, renew: () => this.#renew(), onFault })
  }

  /** Why the lease was lost: the first reason, for ever. Undefined while it is held, and after a release. */
  get loss(): Refusal | undefined {
    return this.#loss.refusal
  }

  get held(): boolean {
    return (this.#state === 'held' || this.#state === 'ending') && this.#guard?.fenced !== true
  }

  /** Aborted at the loss, with the refusal as its reason. */
  get lostSignal(): AbortSignal {
    return this.#loss.signal
  }

  /** In whose place it was granted, if somebody's: the holder was dead, or its lease had run out. */
  get replaced(): { readonly why: 'dead' | 'expired'; readonly holder: Holder } | undefined {
    if (this.#previous === undefined || this.#previous.why === 'reclaimed') return undefined
    const { why, holder } = this.#previous
    return { why, holder }
  }

  /** When the last good renewal began, or the claim if there was none yet: boot time, milliseconds. */
  get renewedBootMs(): number {
    return this.#lease.renewedBootMs
  }

  /** The variables to add to the environment of every process started under this lease. */
  get environment(): Record<string, string> {
    return childEnvironment(this)
  }

  /** For HostAdmission. Starts the renewals, at a random point of the interval: ten thousand leases must not renew in step. */
  begin(guard: Guard, previous?: PreviousClaim): void {
    this.#guard = guard
    this.#previous = previous
    this.#renewals.begin(Math.ceil(Math.random() * this.#home.timings.renewIntervalMs))
  }

  /** For HostAdmission. `onLost` is called once, when the lease is lost; not when it is released, nor if it was lost before this. */
  listen(onLost: (refusal: Refusal) => void): void {
    this.#loss.listen(onLost)
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
    for (;;) {
      const here = this.#checkStart()
      if (here !== undefined) return here
      const result = await this.#home.store.whileHeld(this.#lease, () => {
        if (this.#checkStart() !== undefined || this.#isStale()) return undefined
        const child = spawn()
        this.#noteDriver(child.pid, options.ownGroup)
        return { child }
      })
      if (result.kind === 'lost') this.#lose(result.loss)
      else if (result.value !== undefined) {
        this.#renewals.soon(0)
        return { kind: 'started', child: result.value.child }
      } else if (this.#checkStart() === undefined) await this.#renewals.now()
    }
  }

  /** To be called once the driving child has exited: its pid means nothing from then on. */
  driverExited(): void {
    this.#driver.exited()
    this.#guard?.setDriver(undefined)
  }

  /** For HostAdmission. Renews without waiting for the timer: after a suspension or a step of the wall clock. */
  renewSoon(delayMs: number): void {
    if (this.held) this.#renewals.soon(delayMs)
  }

  /**
   * Ends everything that carries the claim: SIGTERM, the grace (ms), SIGKILL. Resolves when it has exited.
   *
   * @throws the signal's reason; LeaseFault `io` if /proc cannot be read.
   */
  endProcesses(graceMs: number, signal?: AbortSignal): Promise<EndedProcesses> {
    return this.#ending.end({ graceMs, signal, terminated: this.#guard?.fenced === true })
  }

  /** Resolves when the processes of a lost lease are gone, or would not go. At once if the lease is not lost. */
  async fenced(): Promise<EndedProcesses> {
    return (await this.#fencing) ?? { kind: 'ended', count: 0 }
  }

  /**
   * Gives the lease up, once no process of the claim is left (R12): those that are get SIGTERM, `graceMs`, SIGKILL.
   * After that, or after a loss, it does nothing more.
   *
   * @throws RangeError for a grace that is none; LeaseFault if it could not be found out what runs, or the file could
   * not be removed: then call it again, or let the lease run out.
   */
  release(options: { graceMs?: number } = {}): Promise<GivenUp> {
    const graceMs = options.graceMs ?? this.#graceMs
    if (!(graceMs >= 0)) {
      return Promise.reject(new RangeError(`graceMs must be 0 or more milliseconds, not ${graceMs}`))
    }
    this.#givingUp ??= this.#release(graceMs).catch((fault) => {
      this.#givingUp = undefined
      throw fault
    })
    return this.#givingUp
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /**
   * The lease is lost, whatever its file says: it is not used again, and what runs under it is ended at once. For whoever
   * knows a holder that the file does not: another tier, or a hand-over. Without a refusal, it could not be confirmed. A
   * loss from before keeps its reason.
   */
  fence(refusal?: Refusal): void {
    this.#recordLoss(refusal ?? refusalOfUnconfirmed(this.agent, this.#home.clock))
  }

  /** For HostAdmission. This process claims the agent anew: only the newer claim counts. Resolves when nothing of this one is left. */
  supersede(): Promise<EndedProcesses> {
    this.#lose({ why: 'reclaimed-here' })
    return this.fenced()
  }

  async #release(graceMs: number): Promise<GivenUp> {
    if (this.#state === 'lost') return this.#releaseLost()
    // Still renewed and guarded while its processes end: the lease covers them until the last is gone.
    if (this.#state === 'held') this.#state = 'ending'
    const ended = await this.endProcesses(graceMs)
    if (this.loss !== undefined) return this.#releaseLost()
    this.#state = 'given-up'
    this.#stop()
    if (ended.kind === 'remaining') return ended
    await this.#renewals.idle()
    const { kind } = await this.#home.store.release(this.#lease)
    return { kind }
  }

  /** After an unconfirmed loss the file may still be ours: it is given back, as nothing runs under it. */
  async #releaseLost(): Promise<GivenUp> {
    const fenced = await this.fenced()
    if (fenced.kind === 'remaining') return fenced
    await this.#renewals.idle()
    await this.#home.store
      .release(this.#lease)
      .catch((fault: unknown) => this.#home.onFault(this.agent, fault))
    return { kind: 'not-held' }
  }

  #checkHere(): LostCheck | undefined {
    if (this.#guard?.fenced === true && this.loss === undefined && this.#state !== 'given-up') this.fence()
    if (this.loss !== undefined) return { kind: 'lost', refusal: this.loss }
    return this.#state === 'given-up' ? this.#gone() : undefined
  }

  #checkStart(): LostCheck | undefined {
    return this.#checkHere() ?? (this.#state === 'ending' ? this.#gone() : undefined)
  }

  #gone(): LostCheck {
    return { kind: 'lost', refusal: refusalOfLoss(this.agent, { why: 'missing' }, this.#home.clock) }
  }

  /**
   * Whether others may judge it expired by now: they may have looked for its processes already, and would not see one
   * that is started now. Renewed first, it is theirs no more.
   */
  #isStale(): boolean {
    const { clock, timings } = this.#home
    return clock.bootMs() - this.#lease.renewedBootMs >= timings.terminateAfterMs
  }

  /** Under the key's lock, with the child not yet reaped: its start is its own. */
  #noteDriver(pid: number | undefined, ownGroup: boolean): void {
    if (pid === undefined) return
    const { startTicks } = this.#driver.started(pid)
    this.#guard?.setDriver({ pid, startTicks, ownGroup })
  }

  async #renew(): Promise<void> {
    const startedMs = this.#home.clock.bootMs()
    const driver = this.#driver.unrecorded
    const result = await this.#home.store.renew(this.#lease, driver)
    if (result.kind === 'lost') {
      this.#lose(result.loss)
      return
    }
    this.#lease = result.lease
    this.#driver.recorded(driver)
    if (this.#guard?.confirm(startedMs) === false) this.fence()
  }

  #lose(loss: Loss): void {
    this.#recordLoss(refusalOfLoss(this.agent, loss, this.#home.clock))
  }

  /** The processes are stopped at once. */
  #recordLoss(refusal: Refusal): void {
    if (this.#state === 'lost' || this.#state === 'given-up') return
    this.#state = 'lost'
    this.#renewals.stop()
    this.#fencing = this.#endAfterLoss()
    this.#loss.record(refusal)
  }

  /** Guarded until it is done: if we cannot, the watchdog still does. */
  async #endAfterLoss(): Promise<EndedProcesses> {
    const terminated = this.#guard?.fenced === true
    const ended = await this.#ending.endSurely({ graceMs: this.#graceMs, terminated })
    this.#stop()
    return ended
  }

  #stop(): void {
    this.#renewals.stop()
    this.#guard?.dismiss()
    this.#home.onGone(this)
  }
}
