/** The panes of one agent give it up because another instance asked for it: end of input, the grace, the end (PROTOCOL 6). */
import type { RecordEvent } from '@agentmux/host-admission'
import type { Refusal, RemainingProcess } from '@agentmux/refusals'
import type { Pane } from './pane.js'
import type { PaneNotice } from './pane-notice.js'

/** For another instance that asked for an agent. */
export interface LetGoRequest {
  readonly graceMs: number
  readonly toChannel: string
  readonly toVersion: string
  /** What the panes that let go are superseded by, asked when they have. */
  readonly refusal: () => Refusal
}

/** `released`: panes that let go, and nothing of them runs. `kept`: some could not, and these processes would not end. */
export type LetGoResult =
  | { readonly kind: 'released'; readonly released: number }
  | { readonly kind: 'kept'; readonly processes: readonly RemainingProcess[] }

export async function letPanesGo(
  panes: readonly Pane[],
  { graceMs, toChannel, toVersion, refusal }: LetGoRequest,
  tell: (notice: PaneNotice) => void
): Promise<LetGoResult> {
  const mark: RecordEvent = { kind: 'handed-over', to_channel: toChannel, to_version: toVersion }
  for (const pane of panes) pane.handOver(graceMs, { refusal, mark })
  await Promise.all(panes.map((pane) => pane.finished))
  const released = panes.filter((pane) => pane.handedOver)
  for (const { lease, blockId } of released) {
    const { agent, epoch } = lease
    tell({ kind: 'handed-over', agent, blockId, epoch, toChannel, toVersion })
  }
  const kept = panes.filter((pane) => pane.keptAgent)
  if (kept.length > 0) return { kind: 'kept', processes: kept.flatMap(({ remaining }) => remaining) }
  return { kind: 'released', released: released.length }
}
