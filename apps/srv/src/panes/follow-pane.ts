/** What whoever watches a pane sees: its record as it grows, to the end of the pane, and by whom it was superseded. */
import type { RecordItem, SharedRecord } from '@agentmux/host-admission'
import type { Refusal } from '@agentmux/refusals'
import type { Pane } from './pane.js'

export type FollowedItem =
  | RecordItem
  /** The last: another drives the agent now. Its record goes on, in another pane. */
  | { readonly kind: 'superseded'; readonly refusal: Refusal }

export async function* followPane(
  pane: Pane,
  record: Pick<SharedRecord, 'follow'>,
  { from, signal }: { from: number; signal: AbortSignal }
): AsyncGenerator<FollowedItem, void> {
  yield* record.follow(pane.request.uid, { from, signal, last: pane.over })
  const { refusal } = pane.view
  if (refusal !== undefined && !signal.aborted) yield { kind: 'superseded', refusal }
}
