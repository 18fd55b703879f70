/**
 * The epoch of the last line that can be read, which is the highest of all lines: the log lets none through below it.
 * Looks at the end first; only damage makes it read more.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { errnoOf, recordFault } from './record-fault.js'
import { MAX_LINE_BYTES, parseLine } from './record-line.js'
import { segmentPath } from './record-paths.js'
import { SAFE } from './safe-open.js'
import { NEWLINE } from './segment.js'

/** Enough for the last line as it mostly is. */
const FIRST_WINDOW_BYTES = 4 * 1024
/** Room for a whole line and the largest fragment behind it. */
const WINDOW_BYTES = 2 * MAX_LINE_BYTES

/** 0 if no line can be read. `bases` are the segments of the folder, lowest first. */
export function lastEpoch(folder: string, bases: readonly number[]): number {
  for (const base of [...bases].reverse()) {
    const epoch = lastEpochIn(segmentPath(folder, base))
    if (epoch > 0) return epoch
  }
  return 0
}

function lastEpochIn(path: string): number {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | SAFE)
    try {
      const { size } = fstatSync(descriptor)
      const epoch = lastEpochBefore(descriptor, size, Buffer.allocUnsafe(FIRST_WINDOW_BYTES))
      if (epoch > 0 || size <= FIRST_WINDOW_BYTES) return epoch
      return searchBackwards(descriptor, size)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0
    throw recordFault('read', path, error)
  }
}

/** Windows overlap by a line, so that none is cut by the edge of both. */
function searchBackwards(descriptor: number, size: number): number {
  const window = Buffer.allocUnsafe(WINDOW_BYTES)
  for (let end = size; end > 0; end -= WINDOW_BYTES - MAX_LINE_BYTES) {
    const epoch = lastEpochBefore(descriptor, end, window)
    if (epoch > 0) return epoch
  }
  return 0
}

function lastEpochBefore(descriptor: number, end: number, window: Buffer): number {
  const start = Math.max(0, end - window.length)
  const length = readSync(descriptor, window, 0, end - start, start)
  return lastEpochOf(window.subarray(0, length), start === 0)
}

/** Backwards from the last newline. What stands before the first one is half a line, but for the file's first. */
function lastEpochOf(bytes: Buffer, fromTheStart: boolean): number {
  let end = bytes.lastIndexOf(NEWLINE)
  while (end >= 0) {
    const newlineBefore = end === 0 ? -1 : bytes.lastIndexOf(NEWLINE, end - 1)
    if (newlineBefore < 0 && !fromTheStart) return 0
    const item = parseLine(bytes.subarray(newlineBefore + 1, end), 0)
    if (item.kind === 'line') return item.epoch
    end = newlineBefore
  }
  return 0
}
