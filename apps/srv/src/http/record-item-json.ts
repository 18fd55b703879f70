/** An item of a record as it goes over the wire. */
import type { RecordItem } from '@agentmux/host-admission'

export function recordItemJson(item: RecordItem): Record<string, unknown> {
  if (item.kind === 'damage') return { ...item }
  const { kind, position, next, epoch, atMs, event } = item
  return { kind, position, next, epoch, at_ms: atMs, event }
}
