/**
 * The turns of one pane, one after the other: each is sent only if the lease file says that the agent is ours (R4), and
 * only after it stands in the record. What waits is bounded.
 */
import { fencedZone, type HeldAgentLease, type RecordFence } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import { lostRefusal, type Refusal } from '@agentmux/refusals'
import type { PaneChild } from './pane-child.js'
import { refusalOfFault } from './refusal-of-fault.js'
import { turnEvents } from './turn-events.js'

export type TurnResult =
  | { readonly kind: 'sent'; readonly position: number; readonly epoch: number }
  | { readonly kind: 'ended' }
  | { readonly kind: 'lost' | 'unknown'; readonly refusal: Refusal }
  | { readonly kind: 'busy' }

export interface PaneTurnsPorts {
  readonly lease: HeldAgentLease
  readonly fence: RecordFence
  readonly child: PaneChild
  readonly clock: Clock
  /** False once the pane is being closed. */
  readonly isOpen: () => boolean
}

const MAX_WAITING = 64
const MAX_WAITING_UNITS = 512 * 1024

export class PaneTurns {
  readonly #ports: PaneTurnsPorts
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #waitingUnits = 0

  constructor(ports: PaneTurnsPorts) {
    this.#ports = ports
  }

  /** @throws RangeError for a text that is too long; the signal's reason. Nothing was written then. */
  send(text: string, signal?: AbortSignal): Promise<TurnResult> {
    const units = this.#waitingUnits + text.length
    if (this.#waiting === MAX_WAITING || (this.#waiting > 0 && units > MAX_WAITING_UNITS)) {
      return Promise.resolve({ kind: 'busy' })
    }
    this.#waiting += 1
    this.#waitingUnits = units
    const turn = this.#last.then(() => this.#send(text, signal))
    const after = () => {
      this.#waiting -= 1
      this.#waitingUnits -= text.length
    }
    this.#last = turn.then(after, after)
    return turn
  }

  async #send(text: string, signal: AbortSignal | undefined): Promise<TurnResult> {
    const { lease, child, isOpen } = this.#ports
    signal?.throwIfAborted()
    const events = turnEvents(text)
    if (!isOpen() || !child.takesInput) return this.#over()
    if (child.isBehind) return { kind: 'busy' }
    const startedAtMs = this.#ports.clock.bootMs()
    try {
      const zone = await fencedZone(lease, () => this.#record(text, events, { startedAtMs, signal }))
      return zone.kind === 'done' ? zone.value : { kind: 'lost', refusal: zone.refusal }
    } catch (fault) {
      if (signal?.aborted && fault === signal.reason) throw fault
      return { kind: 'unknown', refusal: refusalOfFault(lease.agent, fault) }
    }
  }

  /** The lease was confirmed at `startedAtMs`. Between the last look and the write to the child nothing waits. */
  async #record(
    text: string,
    events: ReturnType<typeof turnEvents>,
    { startedAtMs, signal }: { startedAtMs: number; signal: AbortSignal | undefined }
  ): Promise<TurnResult> {
    const { lease, fence, child, clock, isOpen } = this.#ports
    fence.confirmed(startedAtMs)
    const result = await fence.append(events, signal === undefined ? {} : { signal })
    if (result.kind === 'lost') return { kind: 'lost', refusal: result.refusal }
    if (result.kind === 'rejected') {
      // A higher epoch has written, so another holder was admitted, whatever the lease file says.
      const refusal = lostRefusal(lease.agent, 'other-owner', clock.wallMs())
      lease.fence(refusal)
      return { kind: 'lost', refusal: lease.loss ?? refusal }
    }
    const { position } = result
    // We may have been suspended since the append: then the lease may be somebody else's by now.
    if (fence.allowsNow && isOpen() && child.takesInput) {
      child.write(text.endsWith('\n') ? text : `${text}\n`)
      return { kind: 'sent', position, epoch: lease.epoch }
    }
    // It stands in the record and no one got it: say so there, if we still may.
    await fence.append([{ kind: 'turn-not-sent', position }]).catch(() => {})
    return this.#over()
  }

  #over(): TurnResult {
    const { loss } = this.#ports.lease
    return loss === undefined ? { kind: 'ended' } : { kind: 'lost', refusal: loss }
  }
}
