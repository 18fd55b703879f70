/** What a pane's child says, on its way to the record through the fence (R4): both streams, to their end or as far as it is ours. */
import type { HeldAgentLease, RecordFence } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import { lostRefusal } from '@agentmux/refusals'
import { OutputPump } from './output-pump.js'
import type { PaneChild } from './pane-child.js'

export interface PaneOutputPorts {
  readonly lease: HeldAgentLease
  readonly fence: RecordFence
  readonly child: PaneChild
  readonly clock: Clock
  readonly onFault: (fault: unknown) => void
}

/** The last output is stored within this time, once all that could write it has exited. */
const DRAIN_MS = 3_000

export class PaneOutput {
  readonly #clock: Clock
  readonly #pumps: readonly OutputPump[]

  constructor(ports: PaneOutputPorts) {
    this.#clock = ports.clock
    this.#pumps = [pumpOf('stdout', ports), pumpOf('stderr', ports)].filter((pump) => pump !== undefined)
  }

  /** Nothing more reaches the record, what is under way included. */
  discard(): void {
    for (const pump of this.#pumps) pump.discard()
  }

  close(): void {
    for (const pump of this.#pumps) pump.close()
  }

  /** Everything that carries the claim has exited; what keeps a pipe open now has nothing to do with it. */
  async drain(): Promise<void> {
    const cancelTimer = this.#clock.after(DRAIN_MS, () => this.close())
    await Promise.all(this.#pumps.map((pump) => pump.done))
    cancelTimer()
  }
}

function pumpOf(
  name: 'stdout' | 'stderr',
  { lease, fence, child, clock, onFault }: PaneOutputPorts
): OutputPump | undefined {
  const stream = child[name]
  if (stream === undefined) return undefined
  return new OutputPump(name, stream, {
    clock,
    append: (events) => fence.append(events),
    onFault,
    onTurnedAway: () => {
      // The lease knows by itself when the lease file said so. Otherwise a higher epoch has written.
      lease.fence(lostRefusal(lease.agent, 'other-owner', clock.wallMs()))
    }
  })
}
