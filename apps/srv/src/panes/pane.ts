/**
 * One pane under one lease, from the start of its child to the last of its processes. Keeps true that its output and its
 * turns reach the record only while it is the holder (R4), and that the lease is given up only when nothing of it runs (R12).
 */
import { setMaxListeners } from 'node:events'
import type { HeldAgentLease, RecordEvent } from '@agentmux/host-admission'
import type { Refusal, RemainingProcess } from '@agentmux/refusals'
import type { OpenRequest, PaneExit, PaneOutcome, PaneState, PaneView, SendResult } from './pane-answers.js'
import type { PaneChild } from './pane-child.js'
import { PaneDeadline, TERMINATE_MS } from './pane-deadline.js'
import { PaneEnding } from './pane-ending.js'
import { PaneOutput } from './pane-output.js'
import type { PaneHome, PaneParts } from './pane-parts.js'
import { PaneTurns } from './pane-turns.js'
import { paneView } from './pane-view.js'

export class Pane {
  readonly blockId: string
  readonly request: OpenRequest
  readonly lease: HeldAgentLease
  readonly position: number
  /** Resolves when nothing of it runs, or what does may not or would not be ended. Never rejects. */
  readonly finished: Promise<void>
  /** Aborted then: nothing of it comes to the record any more. */
  readonly over: AbortSignal
  readonly #parts: PaneParts
  readonly #child: PaneChild
  readonly #turns: PaneTurns
  readonly #output: PaneOutput
  readonly #ending: PaneEnding
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
  #outcome: PaneOutcome | undefined
  #handOver: { readonly refusal: () => Refusal; readonly mark: RecordEvent } | undefined

  constructor(home: PaneHome, parts: PaneParts) {
    const { request, lease, fence, child, position } = parts
    this.#parts = parts
    this.blockId = lease.blockId
    this.request = request
    this.lease = lease
    this.position = position
    this.over = this.#over.signal
    // Any number of people may watch.
    setMaxListeners(0, this.over)
    this.#home = home
    this.#deadline = new PaneDeadline(home.clock)
    this.#child = child
    this.#openedAtMs = home.clock.wallMs()
    const ports = { lease, fence, child, clock: home.clock, onFault: (fault: unknown) => this.#report(fault) }
    this.#turns = new PaneTurns({ ...ports, isOpen: () => this.#state === 'running' })
    this.#output = new PaneOutput(ports)
    this.#ending = new PaneEnding({ ...ports, output: this.#output, deadline: this.#deadline })
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

  /** What became of its agent, once it has ended: given up, or handed over; held until its lease runs out; or lost. */
  get outcome(): PaneOutcome | undefined {
    return this.#outcome
  }

  /** Its processes that would not end. */
  get remaining(): readonly RemainingProcess[] {
    return this.#remaining
  }

  get view(): PaneView {
    return paneView(this.#parts, {
      state: this.#state,
      openedAtMs: this.#openedAtMs,
      endedAtMs: this.#endedAtMs,
      exit: this.#exit,
      refusal: this.#refusal
    })
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
      if (this.lease.loss !== undefined) this.#remaining = await this.#ending.endLost()
    } catch (fault) {
      // Ours, then. What may still run is ended, and guarded until it has: the lease is not used any more.
      this.#report(fault)
      this.lease.fence()
      if (this.#state !== 'superseded') this.#state = 'ended'
      this.#outcome ??= 'kept'
    }
    this.#output.close()
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
    this.#output.discard()
    this.#child.cutInput()
    this.#state = 'superseded'
    this.#outcome = 'lost'
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
    const ended = await this.#ending.endHeld({
      exit: () => this.#exit,
      lastEvents: () => this.#lastEvents()
    })
    // Taken in between: it stands in the file whether it was ours to the end.
    if (ended.kind === 'lost') return this.#onLoss(ended.refusal)
    if (ended.kind === 'remaining') this.#remaining = ended.processes
    const isHandedOver = ended.kind === 'released' && this.#handOver !== undefined
    this.#outcome = ended.kind !== 'released' ? 'kept' : isHandedOver ? 'handed-over' : 'given-up'
    if (isHandedOver) this.#refusal = this.#handOver?.refusal()
    this.#state = isHandedOver ? 'superseded' : 'ended'
  }

  #lastEvents(): RecordEvent[] {
    const { code = null, signal = null } = this.#exit ?? {}
    const ended: RecordEvent = { kind: 'ended', block_id: this.blockId, code, signal }
    return this.#handOver === undefined ? [ended] : [ended, this.#handOver.mark]
  }

  #report(fault: unknown): void {
    this.#home.onFault(this, fault)
  }
}
