/**
 * Writing the small files of a lease, under the key's lock. A file is replaced whole or stays as it was, at a kill, a
 * full disk and a power cut; only a renewal, of which nothing durable is promised, writes in place.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  unlinkSync,
  writeSync
} from 'node:fs'
import { errnoOf, ioFault } from './lease-fault.js'
import { randomUuid } from './random-uuid.js'
import { despiteSharing } from './sharing-violation.js'
import { SAFE } from './small-file.js'

const MODE = 0o644
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFE

/** Within one page a kill never leaves half a write behind. */
export const MAX_IN_PLACE_BYTES = 4_096

/**
 * Replaces a file atomically and durably: its content is on the disk before it takes the name. The folder is
 * not synced here; a caller that changes several files syncs it once, with `syncFolder`.
 *
 * @throws LeaseFault `io`; the old file is then still in place and no temporary one is left.
 */
export function replaceFile(path: string, content: string | Buffer): void {
  const temporary = `${path}.tmp`
  try {
    const descriptor = createAnew(temporary)
    try {
      writeAll(descriptor, typeof content === 'string' ? Buffer.from(content) : content)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameOver(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw ioFault('write', path, error)
  }
}

/** Creates a file unless it exists. Not synced: what it says must be harmless to lose. */
export function createUnlessThere(path: string, text: string): void {
  try {
    const descriptor = openSync(path, CREATE, MODE)
    try {
      writeAll(descriptor, Buffer.from(text))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw ioFault('create', path, error)
  }
}

/**
 * Overwrites the whole of a file, opened for writing, with as many bytes as it has. If that fails halfway, what was
 * there is put back. Throws what the system says.
 */
export function overwrite(descriptor: number, bytes: Buffer, before: string): void {
  let done = 0
  try {
    while (done < bytes.length) done += writeSync(descriptor, bytes, done, bytes.length - done, done)
  } catch (error) {
    if (done > 0) writeSync(descriptor, Buffer.from(before, 'latin1'), 0, done, 0)
    throw error
  }
}

/** Makes earlier renames, creations and removals in a folder survive a power cut. @throws LeaseFault `io`. */
export function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    // Windows cannot open a folder, and needs no sync of it.
    if (process.platform !== 'win32') throw ioFault('sync', folder, error)
  }
}

/** Removes a file of ours; that it is not there is fine. Not synced: the caller bears its return. */
export function removeFile(path: string): void {
  try {
    despiteSharing(() => unlinkSync(path))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw ioFault('remove', path, error)
  }
}

/** For the way out of an error: what is reported is the error, not why the remains could not be removed. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {}
}

/** A leftover of a writer that was killed under this lock is nobody's: removed. */
function createAnew(path: string): number {
  try {
    return openSync(path, CREATE, MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    if (lstatSync(path).isDirectory()) moveAside(path)
    else unlinkSync(path)
    return openSync(path, CREATE, MODE)
  }
}

function renameOver(temporary: string, path: string): void {
  try {
    despiteSharing(() => renameSync(temporary, path))
  } catch (error) {
    if (errnoOf(error) !== 'EISDIR') throw error
    moveAside(path)
    renameSync(temporary, path)
  }
}

/** A folder in a file's place would be in the way for ever (R3). It may hold somebody's work: kept, elsewhere. */
function moveAside(path: string): void {
  renameSync(path, `${path}.damaged-${randomUuid().slice(0, 8)}`)
}

function writeAll(descriptor: number, bytes: Buffer): void {
  let done = 0
  while (done < bytes.length) done += writeSync(descriptor, bytes, done, bytes.length - done, done)
}
