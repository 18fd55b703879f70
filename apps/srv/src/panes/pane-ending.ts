/**
 * The end of a pane, in order: its processes, the rest of its output, its last words in the record, then the lease (R12). A
 * disk or a /proc that fails is tried again a few times; after that the lease is fenced, never left to itself: the watchdog
 * guards what may still run.
 */
import type { HeldAgentLease, RecordEvent, RecordFence } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { Refusal, RemainingProcess } from '@agentmux/refusals'
import type { PaneExit } from './pane-answers.js'
import type { PaneChild } from './pane-child.js'
import type { PaneDeadline } from './pane-deadline.js'
import type { PaneOutput } from './pane-output.js'

export interface PaneEndingPorts {
  readonly lease: HeldAgentLease
  readonly fence: RecordFence
  readonly child: PaneChild
  readonly clock: Clock
  readonly output: PaneOutput
  readonly deadline: PaneDeadline
  readonly onFault: (fault: unknown) => void
}

export interface EndingPane {
  /** How its child has ended, if it has. */
  readonly exit: () => PaneExit | undefined
  readonly lastEvents: () => readonly RecordEvent[]
}

export type PaneEnded =
  | { readonly kind: 'released' }
  | { readonly kind: 'lost'; readonly refusal: Refusal }
  /** These would not end. The lease runs out. */
  | { readonly kind: 'remaining'; readonly processes: readonly RemainingProcess[] }
  /** Nothing runs, and it was not ours to give up any more. */
  | { readonly kind: 'not-held' }

const RETRY_MS = 1_000
const RETRIES = 5

export class PaneEnding {
  readonly #ports: PaneEndingPorts

  constructor(ports: PaneEndingPorts) {
    this.#ports = ports
  }

  /** Of a pane that holds its agent: by the deadline. Throws only for what is a mistake of ours. */
  async endHeld({ exit, lastEvents }: EndingPane): Promise<PaneEnded> {
    const { lease, deadline, output } = this.#ports
    await deadline.terminate(() => exit() !== undefined || lease.loss !== undefined)
    await this.#endProcesses()
    await output.drain()
    const before = await this.#lossNow()
    if (before !== undefined) return { kind: 'lost', refusal: before }
    await this.#append(lastEvents())
    const given = await this.#giveUp()
    const lost = given?.kind === 'not-held' ? await this.#lossNow() : lease.loss
    if (lost !== undefined) return { kind: 'lost', refusal: lost }
    return given ?? { kind: 'not-held' }
  }

  /** Of one that lost it. The lease file is removed only if it still is this claim's. Resolves with what would not end. */
  async endLost(): Promise<readonly RemainingProcess[]> {
    const { lease, child, onFault } = this.#ports
    const fenced = await lease.fenced()
    if (fenced.kind === 'ended') await child.exited
    await lease.release({ graceMs: 0 }).catch(onFault)
    return fenced.kind === 'remaining' ? fenced.processes : []
  }

  async #endProcesses(): Promise<void> {
    const { lease, child, clock, deadline, onFault } = this.#ports
    for (let retries = 0; retries < RETRIES && lease.loss === undefined; ) {
      const { sooner, leftMs } = deadline
      try {
        const ended = await lease.endProcesses(leftMs, sooner)
        if (ended.kind === 'ended') await child.exited
        return
      } catch (fault) {
        if (sooner.aborted) continue
        onFault(fault)
        retries += 1
        await clock.sleep(RETRY_MS)
      }
    }
  }

  async #append(events: readonly RecordEvent[]): Promise<void> {
    const { fence, onFault } = this.#ports
    try {
      await fence.append(events)
    } catch (fault) {
      onFault(fault)
    }
  }

  /** Asks the file. Unreadable, it is not known to be lost. */
  async #lossNow(): Promise<Refusal | undefined> {
    const { lease, onFault } = this.#ports
    try {
      const check = await lease.verify()
      return check.kind === 'lost' ? check.refusal : undefined
    } catch (fault) {
      onFault(fault)
      return lease.loss
    }
  }

  /** Undefined if the files do not let it: then it runs out. */
  async #giveUp(): Promise<Awaited<ReturnType<HeldAgentLease['release']>> | undefined> {
    const { lease, clock, onFault } = this.#ports
    for (let retries = 0; ; ) {
      try {
        return await lease.release({ graceMs: 0 })
      } catch (fault) {
        onFault(fault)
        if (++retries === RETRIES) break
        await clock.sleep(RETRY_MS)
      }
    }
    lease.fence()
    return undefined
  }
}
