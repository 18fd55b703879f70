/**
 * Reading and writing the small files of a lease: synchronous, bounded, and never through a link, a pipe or a
 * device somebody put in their place. Writers hold the key's lock; readers need nothing.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  unlinkSync,
  writeSync
} from 'node:fs'
import { errnoOf, ioFault } from './lease-fault.js'

/** A lease is under 2 KiB. Anything larger was not written by a lease store. */
export const MAX_FILE_BYTES = 64 * 1024

/** O_NOFOLLOW: a link is not ours. O_NONBLOCK: opening a pipe must not hang. Both are 0 where unknown. */
export const SAFE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const MODE = 0o644
const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES)

/** What stands in a file, as far as it can be a lease or a counter. */
export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** Not text within the size limit: too large, a folder, a link, a pipe. */
  | { readonly kind: 'odd' }

export const MISSING: FileText = { kind: 'missing' }
export const ODD: FileText = { kind: 'odd' }

/** @throws LeaseFault `io` if the file exists and cannot be read. */
export function readText(path: string): FileText {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | SAFE)
    try {
      return readDescriptor(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return missingOrOdd(path, error)
  }
}

/** The text behind an open descriptor, from its beginning. */
export function readDescriptor(descriptor: number): FileText {
  const length = readSync(descriptor, buffer, 0, MAX_FILE_BYTES, 0)
  if (length === MAX_FILE_BYTES) return ODD
  return { kind: 'text', text: buffer.toString('utf8', 0, length) }
}

/** Sorts an error of opening or reading: nothing there, something odd there, or a fault. */
export function missingOrOdd(path: string, error: unknown): FileText {
  switch (errnoOf(error)) {
    case 'ENOENT':
      return MISSING
    case 'EISDIR':
    case 'ELOOP':
    case 'ENXIO':
    case 'ESPIPE':
    case 'EAGAIN':
      return ODD
    default:
      throw ioFault('read', path, error)
  }
}

/**
 * Replaces a file atomically and durably: its content is on the disk before it takes the name. The folder is
 * not synced here; a caller that changes several files syncs it once, with `syncFolder`.
 *
 * @throws LeaseFault `io`; the old file is then still in place.
 */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.tmp`
  try {
    const descriptor = createAnew(temporary)
    try {
      writeAll(descriptor, text)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw ioFault('write', path, error)
  }
}

/** Creates a file that must not exist yet. A leftover of a crashed writer under our lock is nobody's: removed. */
function createAnew(path: string): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFE
  try {
    return openSync(path, flags, MODE)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    unlinkSync(path)
    return openSync(path, flags, MODE)
  }
}

function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text)
  let done = 0
  while (done < bytes.length) done += writeSync(descriptor, bytes, done, bytes.length - done, done)
}

/** Makes earlier renames, creations and removals in a folder survive a power cut. */
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

/** Removes a file of ours; that it is not there is fine. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw ioFault('remove', path, error)
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // What is reported is why it could not be written, not why the remains could not be removed.
  }
}

/** Which file an open descriptor is, to compare with a path: device and inode. */
export function fileIdentity(stats: { dev: number; ino: number }): string {
  return `${stats.dev}:${stats.ino}`
}

/** Whether a descriptor still is what the path names. */
export function sameFile(descriptor: number, atPath: { dev: number; ino: number }): boolean {
  const opened = fstatSync(descriptor)
  return opened.ino === atPath.ino && opened.dev === atPath.dev
}
