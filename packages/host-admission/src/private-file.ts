/**
 * Reading and replacing the small files that instances leave for each other: synchronous, bounded, and never through a
 * link, a pipe or a device somebody put in their place. A replacement is seen whole or not at all; it is not synced,
 * since none of these files has to survive a power cut.
 */
import { closeSync, constants, openSync, readSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'

export type FileText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** Not text within the limit: too large, a folder, a link. */
  | { readonly kind: 'odd' }
  /** There, and closed to us. */
  | { readonly kind: 'unreadable' }

export interface ReplaceOptions {
  readonly mode: number
  /** Where the text is written first: in the same folder. */
  readonly temporary: string
}

const SAFE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFE
const MAX_BYTES = 16 * 1024
const buffer = Buffer.allocUnsafe(MAX_BYTES + 1)

/** Never throws: what cannot be read says nothing, and the reader decides what that means. */
export function readPrivateFile(path: string): FileText {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | SAFE)
  } catch (error) {
    return withoutText(error)
  }
  try {
    const length = readSync(descriptor, buffer, 0, buffer.length, 0)
    if (length > MAX_BYTES) return { kind: 'odd' }
    return { kind: 'text', text: buffer.toString('utf8', 0, length) }
  } catch (error) {
    return withoutText(error)
  } finally {
    closeSync(descriptor)
  }
}

/** @throws what node:fs throws; the old file is then still in place. */
export function replacePrivateFile(path: string, text: string, { mode, temporary }: ReplaceOptions): void {
  const descriptor = createAnew(temporary, mode)
  try {
    try {
      writeFileSync(descriptor, text)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, path)
  } catch (error) {
    removeQuietly(temporary)
    throw error
  }
}

/** That it is not there, or will not go, is fine. */
export function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // What it says runs out by itself.
  }
}

/** The mode counts only for a file that is created, so what a crashed writer left is removed first. */
function createAnew(path: string, mode: number): number {
  try {
    return openSync(path, CREATE, mode)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
    removeQuietly(path)
    return openSync(path, CREATE, mode)
  }
}

function withoutText(error: unknown): FileText {
  switch (errnoOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return { kind: 'missing' }
    case 'EISDIR':
    case 'ELOOP':
    case 'ENXIO':
    case 'ESPIPE':
    case 'EAGAIN':
      return { kind: 'odd' }
    default:
      return { kind: 'unreadable' }
  }
}

function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
