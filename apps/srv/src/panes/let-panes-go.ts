/** The panes of one agent give it up because another instance asked for it: end of input, the grace, the end (PROTOCOL 6). */
import { comparableUid, type RecordEvent } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { Refusal, RemainingProcess } from '@agentmux/refusals'
import type { PaneList } from './pane-list.js'
import type { PaneNotice } from './pane-notice.js'
import type { PaneOpener } from './pane-opener.js'

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

export interface LetGoPorts {
  readonly opener: PaneOpener
  readonly panes: PaneList
  readonly clock: Clock
  readonly tell: (notice: PaneNotice) => void
}

export async function letPanesGo(
  uid: string,
  { graceMs, toChannel, toVersion, refusal }: LetGoRequest,
  { opener, panes, clock, tell }: LetGoPorts
): Promise<LetGoResult> {
  const untilMs = clock.bootMs() + graceMs
  // Whoever was about to start it gives way: what it has claimed it gives back.
  await opener.giveUp({ kind: 'refused', by: 'handover-hold', refusal: refusal() }, uid)
  const mark: RecordEvent = { kind: 'handed-over', to_channel: toChannel, to_version: toVersion }
  const wanted = comparableUid(uid)
  const asked = panes.holding.filter(({ request }) => comparableUid(request.uid) === wanted)
  for (const pane of asked) pane.handOver(Math.max(0, untilMs - clock.bootMs()), { refusal, mark })
  await Promise.all(asked.map((pane) => pane.finished))
  const released = asked.filter(({ outcome }) => outcome === 'handed-over')
  for (const { lease, blockId } of released) {
    const { agent, epoch } = lease
    tell({ kind: 'handed-over', agent, blockId, epoch, toChannel, toVersion })
  }
  const kept = asked.filter(({ outcome }) => outcome === 'kept')
  if (kept.length > 0) return { kind: 'kept', processes: kept.flatMap(({ remaining }) => remaining) }
  return { kind: 'released', released: released.length }
}
