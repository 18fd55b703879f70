/** A child's output as events: however long, in pieces that fit a line. Joined in order they are the text again. */
import type { RecordEvent } from './record-line.js'

/** JSON makes at most six bytes of a UTF-16 unit, so a piece is under 48 KiB of its line's 64. */
const PIECE_UNITS = 8 * 1024

/** Pieces of one text. Give it what a decoder returned, so that no character is cut by where a buffer ended. */
export function outputEvents(stream: 'stdout' | 'stderr', text: string): RecordEvent[] {
  const events: RecordEvent[] = []
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start)
    events.push({ kind: 'output', stream, text: text.slice(start, end) })
    start = end
  }
  return events
}

/** Never between the two halves of a surrogate pair. */
function pieceEnd(text: string, start: number): number {
  const end = start + PIECE_UNITS
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end
}
