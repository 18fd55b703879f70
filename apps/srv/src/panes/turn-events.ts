/** A turn as events: however long, in pieces that fit a line. All but the last say that there is `more`. */
import type { RecordEvent } from '@agentmux/host-admission'

/** JSON makes at most six bytes of a UTF-16 unit, so a piece is under 48 KiB of its line's 64. */
const PIECE_UNITS = 8 * 1024
/** In one append: twenty pieces are under a batch's limit, whatever is in them. */
const MAX_UNITS = 20 * PIECE_UNITS
/** For a text of ordinary characters, that are one to three bytes in JSON. */
const MAX_BYTES = 900 * 1024

/** @throws RangeError for a text that does not fit into one append. */
export function turnEvents(text: string): RecordEvent[] {
  if (text.length > MAX_UNITS && Buffer.byteLength(JSON.stringify(text)) > MAX_BYTES) {
    throw new RangeError(`a turn of ${text.length} characters is too long`)
  }
  const events: RecordEvent[] = []
  for (let start = 0; ; ) {
    const end = pieceEnd(text, start)
    const piece = text.slice(start, end)
    if (end === text.length) return [...events, { kind: 'turn', text: piece }]
    events.push({ kind: 'turn', text: piece, more: true })
    start = end
  }
}

/** Never between the two halves of a surrogate pair. */
function pieceEnd(text: string, start: number): number {
  const end = start + PIECE_UNITS
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}
