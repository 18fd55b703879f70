/**
 * One pane under one lease, from the start of its child to the last of its processes. Keeps true that its output and its
 * turns reach the record only while it is the holder (R4), and that the lease is given up only when nothing of it runs (R12).
 */
import { setMaxListeners } from 'node:events'
import type { EndedProcesses, HeldAgentLease, RecordEvent, RecordFence } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import { lostRefusal, type Refusal, type RemainingProcess } from '@agentmux/refusals'
import { OutputPump } from './output-pump.js'
import type { OpenRequest, PaneExit, PaneState, PaneView, SendResult } from './pane-answers.js'
import type { PaneChild } from './pane-child.js'
import type { PaneCommand } from './pane-command.js'
import { PaneDeadline, TERMINATE_MS } from './pane-deadline.js'
import { PaneTurns } from './pane-turns.js'

export interface PaneParts {
  readonly request: OpenRequest
  readonly command: PaneCommand
  readonly lease: HeldAgentLease
  readonly fence: RecordFence
  readonly child: PaneChild
  /** Where its `opened` event stands in the record. */
  readonly position: number
}

export interface PaneHome {
  readonly clock: Clock
  /** At every change of its state, synchronously. */
  readonly onChange: (pane: Pane) => void
  /** Once, when it takes no more turns: what names it to others must go. */
  readonly onClosing: (pane: Pane) => void
  readonly onFenced: (pane: Pane, refusal: Refusal) => void
  readonly onFault: (pane: Pane, fault: unknown) => void
}

/** The last output is stored within this time, once all that could write it has exited. */
const DRAIN_MS = 3_000
const RETRY_MS = 1_000
const RETRIES = 5

export class Pane {
  readonly blockId: string
  readonly request: OpenRequest
  readonly lease: HeldAgentLease
  readonly position: number
  /** Resolves when nothing of it runs, or what does may not or would not be ended. Never rejects. */
  readonly finished: Promise<void>
  /** Aborted then: nothing of it comes to the record any more. */
  readonly over: AbortSignal
  readonly #command: PaneCommand
  readonly #fence: RecordFence
  readonly #child: PaneChild
  readonly #turns: PaneTurns
  readonly #pumps: readonly OutputPump[]
  readonly #home: PaneHome
  readonly #deadline: PaneDeadline
  readonly #openedAtMs: number
  readonly #over = new AbortController()
  #state: PaneState = 'running'
  #endedAtMs: number | undefined
  #exit: PaneExit | undefined
  #refusal: Refusal | undefined
  #remaining: readonly RemainingProcess[] = []
  #leaveRunning: () => void = () => {}
  #handedOver = false
  #gaveUp = false
  #handOver: { readonly refusal: () => Refusal; readonly mark: RecordEvent } | undefined

  constructor(home: PaneHome, { request, command, lease, fence, child, position }: PaneParts) {
    this.blockId = lease.blockId
    this.request = request
    this.lease = lease
    this.position = position
    this.over = this.#over.signal
    // Any number of people may watch.
    setMaxListeners(0, this.over)
    this.#home = home
    this.#deadline = new PaneDeadline(home.clock)
    this.#command = command
    this.#fence = fence
    this.#child = child
    this.#openedAtMs = home.clock.wallMs()
    const { clock } = home
    this.#turns = new PaneTurns({ lease, fence, child, clock, isOpen: () => this.#state === 'running' })
    this.#pumps = [this.#pump('stdout'), this.#pump('stderr')].filter((pump) => pump !== undefined)
    this.finished = this.#live()
    void child.exited.then((exit) => this.#onExit(exit))
    const { lostSignal } = lease
    const onLoss = () => this.#onLoss(lostSignal.reason)
    if (lostSignal.aborted) onLoss()
    else lostSignal.addEventListener('abort', onLoss, { once: true })
  }

  get state(): PaneState {
    return this.#state
  }

  /** Whether something of it may still run. */
  get isLive(): boolean {
    return this.#endedAtMs === undefined
  }

  /** Whether it gave its agent to another instance that asked for it. */
  get handedOver(): boolean {
    return this.#handedOver
  }

  /** Whether it has ended and could not give its agent up: that stays held until its lease runs out. */
  get keptAgent(): boolean {
    return this.#endedAtMs !== undefined && this.#state === 'ended' && !this.#gaveUp
  }

  /** Its processes that would not end. */
  get remaining(): readonly RemainingProcess[] {
    return this.#remaining
  }

  get view(): PaneView {
    const { uid, agent } = this.request
    return {
      blockId: this.blockId,
      uid,
      ...(agent === undefined ? {} : { agent }),
      state: this.#state,
      command: this.request.command,
      cwd: this.#command.cwd,
      pid: this.#child.pid,
      epoch: this.lease.epoch,
      openedAtMs: this.#openedAtMs,
      ...(this.#endedAtMs === undefined ? {} : { endedAtMs: this.#endedAtMs }),
      ...(this.#exit === undefined ? {} : { exit: this.#exit }),
      ...(this.#refusal === undefined ? {} : { refusal: this.#refusal })
    }
  }

  /** @throws RangeError for a text that is too long; the signal's reason. Nothing was sent then. */
  async send(text: string, signal?: AbortSignal): Promise<SendResult> {
    if (this.#refusal !== undefined) return { kind: 'lost', refusal: this.#refusal }
    const result = await this.#turns.send(text, signal)
    if (result.kind !== 'ended') return result
    return this.#refusal === undefined
      ? { kind: 'ended', pane: this.view }
      : { kind: 'lost', refusal: this.#refusal }
  }

  /** End of input; SIGTERM towards the end of the grace, SIGKILL at its end. A later call can only make it sooner. */
  close(graceMs: number): void {
    if (this.#state !== 'running' && this.#state !== 'closing') return
    if (this.#state === 'running') {
      this.#state = 'closing'
      this.#child.endInput()
      this.#stopped()
    }
    this.#deadline.shorten(graceMs)
  }

  /** The same, for another instance: the pane is superseded in the end, for the reason given then. */
  handOver(graceMs: number, to: { readonly refusal: () => Refusal; readonly mark: RecordEvent }): void {
    if (this.#state === 'running' || this.#state === 'closing') this.#handOver ??= to
    this.close(graceMs)
  }

  /** For our own exit: whatever drives the agent must not go on without a holder. */
  kill(): void {
    this.#child.kill()
  }

  async #live(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#leaveRunning = resolve
    })
    try {
      if (this.lease.loss === undefined) await this.#endHeld()
      if (this.lease.loss !== undefined) await this.#endLost()
    } catch (fault) {
      // Ours, then. What may still run is ended, and guarded until it has: the lease is not used any more.
      this.#report(fault)
      this.lease.fence()
      if (this.#state !== 'superseded') this.#state = 'ended'
    }
    for (const pump of this.#pumps) pump.close()
    this.#child.cutInput()
    this.#endedAtMs = this.#home.clock.wallMs()
    this.#home.onChange(this)
    this.#over.abort()
  }

  #onExit(exit: PaneExit): void {
    this.#exit = exit
    this.lease.driverExited()
    this.#deadline.wake()
    // What it has left running gets this long.
    this.close(TERMINATE_MS)
  }

  #onLoss(refusal: Refusal): void {
    if (this.#state === 'ended' || this.#state === 'superseded') return
    for (const pump of this.#pumps) pump.discard()
    this.#child.cutInput()
    this.#state = 'superseded'
    this.#refusal = refusal
    this.#deadline.wake()
    this.#home.onFenced(this, refusal)
    this.#stopped()
  }

  #stopped(): void {
    this.#leaveRunning()
    this.#home.onClosing(this)
    this.#home.onChange(this)
  }

  async #endHeld(): Promise<void> {
    await this.#deadline.terminate(() => this.#exit !== undefined || this.lease.loss !== undefined)
    await this.#endProcesses()
    await this.#drain()
    if ((await this.#lossNow()) !== undefined) return
    await this.#appendEnd()
    const given = await this.#giveUp()
    // Taken in between: it stands in the file whether it was ours to the end.
    const lost = given?.kind === 'not-held' ? await this.#lossNow() : this.lease.loss
    if (lost !== undefined) return this.#onLoss(lost)
    if (given?.kind === 'remaining') this.#remaining = given.processes
    this.#gaveUp = given?.kind === 'released'
    if (this.#gaveUp && this.#handOver !== undefined) {
      this.#handedOver = true
      this.#refusal = this.#handOver.refusal()
      this.#state = 'superseded'
    } else this.#state = 'ended'
  }

  /** The lease file is removed only if it still is this claim's. */
  async #endLost(): Promise<void> {
    const fenced = await this.lease.fenced()
    if (fenced.kind === 'remaining') this.#remaining = fenced.processes
    else await this.#child.exited
    await this.lease.release({ graceMs: 0 }).catch((fault: unknown) => this.#report(fault))
  }

  async #endProcesses(): Promise<EndedProcesses | undefined> {
    const { clock } = this.#home
    for (let retries = 0; retries < RETRIES && this.lease.loss === undefined; ) {
      const { sooner, leftMs } = this.#deadline
      try {
        const ended = await this.lease.endProcesses(leftMs, sooner)
        if (ended.kind === 'ended') await this.#child.exited
        return ended
      } catch (fault) {
        if (sooner.aborted) continue
        this.#report(fault)
        retries += 1
        await clock.sleep(RETRY_MS)
      }
    }
    return undefined
  }

  /** Everything that carries the claim has exited; what keeps a pipe open now has nothing to do with it. */
  async #drain(): Promise<void> {
    const cancelTimer = this.#home.clock.after(DRAIN_MS, () => {
      for (const pump of this.#pumps) pump.close()
    })
    await Promise.all(this.#pumps.map((pump) => pump.done))
    cancelTimer()
  }

  async #appendEnd(): Promise<void> {
    const { code = null, signal = null } = this.#exit ?? {}
    const ended: RecordEvent = { kind: 'ended', block_id: this.blockId, code, signal }
    const events = this.#handOver === undefined ? [ended] : [ended, this.#handOver.mark]
    try {
      await this.#fence.append(events)
    } catch (fault) {
      this.#report(fault)
    }
  }

  /** Asks the file. Unreadable, it is not known to be lost. */
  async #lossNow(): Promise<Refusal | undefined> {
    try {
      const check = await this.lease.verify()
      return check.kind === 'lost' ? check.refusal : undefined
    } catch (fault) {
      this.#report(fault)
      return this.lease.loss
    }
  }

  /** Undefined if the files do not let it: then it runs out. */
  async #giveUp(): Promise<Awaited<ReturnType<HeldAgentLease['release']>> | undefined> {
    for (let retries = 0; ; ) {
      try {
        return await this.lease.release({ graceMs: 0 })
      } catch (fault) {
        this.#report(fault)
        if (++retries === RETRIES) break
        await this.#home.clock.sleep(RETRY_MS)
      }
    }
    this.lease.fence()
    return undefined
  }

  #pump(name: 'stdout' | 'stderr'): OutputPump | undefined {
    const stream = this.#child[name]
    if (stream === undefined) return undefined
    return new OutputPump(name, stream, {
      clock: this.#home.clock,
      append: (events) => this.#fence.append(events),
      onFault: (fault) => this.#report(fault),
      onTurnedAway: () => {
        // The lease knows by itself when the lease file said so. Otherwise a higher epoch has written.
        this.lease.fence(lostRefusal(this.lease.agent, 'other-owner', this.#home.clock.wallMs()))
      }
    })
  }

  #report(fault: unknown): void {
    this.#home.onFault(this, fault)
  }
}
