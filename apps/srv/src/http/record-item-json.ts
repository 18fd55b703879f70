/** An item of a record as it goes over the wire. */
import type { FollowedItem } from '../panes/follow-pane.js'

export function recordItemJson(item: FollowedItem): Record<string, unknown> {
  if (item.kind !== 'line') return { ...item }
  const { kind, position, next, epoch, atMs, event } = item
  return { kind, position, next, epoch, at_ms: atMs, event }
}
