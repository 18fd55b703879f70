/**
 * Reading a record from a position to its present end, in chunks: takes no lock, creates nothing (R6), and holds one
 * chunk in memory however long the record is. A line that is still being written is left for the next scan.
 */
import { constants, promises as files } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { errnoOf, recordFault } from './record-fault.js'
import { MAX_LINE_BYTES, parseLine, type RecordItem } from './record-line.js'
import { segmentBases, segmentPath } from './record-paths.js'
import { SAFE } from './safe-open.js'
import { NEWLINE } from './segment.js'

const CHUNK_BYTES = 4 * MAX_LINE_BYTES

/**
 * Yields what stands at `from` and after, a few items at a time. A `from` inside a line means the line after it.
 *
 * @throws RecordFault `io`.
 */
export async function* scanRecord(folder: string, from: number): AsyncGenerator<RecordItem[], void> {
  // Listed before anything is read: a segment with another behind it in this list is complete.
  const bases = await listBases(folder)
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let position = from
  for (const [index, base] of bases.entries()) {
    if ((bases[index + 1] ?? Number.POSITIVE_INFINITY) <= position) continue
    if (position < base) {
      yield [{ kind: 'damage', position, next: base, why: 'missing' }]
      position = base
    }
    const complete = index < bases.length - 1
    position = yield* scanSegment(buffer, segmentPath(folder, base), { base, position, complete })
  }
}

interface Segment {
  readonly base: number
  /** Where to begin. */
  readonly position: number
  /** Nothing will be added: what has no newline at the end was torn. */
  readonly complete: boolean
}

/** Returns the position of what could not be yielded yet. */
async function* scanSegment(
  buffer: Buffer,
  path: string,
  { base, position, complete }: Segment
): AsyncGenerator<RecordItem[], number> {
  const file = await openToRead(path)
  if (file === undefined) return position
  try {
    let start = position
    let inside = await beginsInsideLine(file, position - base)
    for (let end = start; ; ) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, end - base)
      const chunk = buffer.subarray(0, bytesRead)
      const items: RecordItem[] = []
      let lineAt = 0
      for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, lineAt)) {
        const next = end + newline + 1
        if (inside) inside = false
        else if (start < end + lineAt) items.push({ kind: 'damage', position: start, next, why: 'oversized' })
        else items.push(parseLine(chunk.subarray(lineAt, newline), start))
        lineAt = newline + 1
        start = next
      }
      if (items.length > 0) yield items
      const rest = bytesRead - lineAt
      if (bytesRead < CHUNK_BYTES) {
        if (!complete) return start
        const next = end + bytesRead
        if (next > start && !inside) yield [{ kind: 'damage', position: start, next, why: 'unreadable' }]
        return next
      }
      // A whole line fits a chunk: read it again from its beginning, unless it is too long to be one.
      end = rest <= MAX_LINE_BYTES ? end + lineAt : end + bytesRead
    }
  } catch (error) {
    throw recordFault('read', path, error)
  } finally {
    await file.close()
  }
}

async function listBases(folder: string): Promise<number[]> {
  try {
    return segmentBases(await files.readdir(folder))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw recordFault('read the folder', folder, error)
  }
}

/** Undefined if it was removed since it was listed. */
async function openToRead(path: string): Promise<FileHandle | undefined> {
  try {
    return await files.open(path, constants.O_RDONLY | SAFE)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw recordFault('open', path, error)
  }
}

async function beginsInsideLine(file: FileHandle, offset: number): Promise<boolean> {
  if (offset <= 0) return false
  const before = Buffer.alloc(1)
  const { bytesRead } = await file.read(before, 0, 1, offset - 1)
  return bytesRead === 1 && before[0] !== NEWLINE
}
