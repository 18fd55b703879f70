/**
 * Reading the small files of a lease: synchronous, bounded, and never through a link, a pipe or a device somebody
 * put in their place. A reader needs no lock; one that holds none must expect a file to be half rewritten.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, statSync } from 'node:fs'
import { errnoOf, ioFault } from './lease-fault.js'

/** A lease is under 2 KiB. Anything of this size or larger was not written by a lease store. */
export const MAX_FILE_BYTES = 64 * 1024

/** O_NOFOLLOW: a link is not ours. O_NONBLOCK: opening a pipe must not hang. Both are 0 where unknown. */
export const SAFE = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const READ = constants.O_RDONLY | SAFE
const buffer = Buffer.allocUnsafe(MAX_FILE_BYTES)

/** What stands in a file, as far as it can be a lease or a counter. */
export type FileText =
  /** One character per byte (latin1), so that equal texts are equal bytes and the length is the file's. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** Not text within the size limit: too large, a folder, a link, a pipe. */
  | { readonly kind: 'odd' }

export const MISSING: FileText = { kind: 'missing' }
export const ODD: FileText = { kind: 'odd' }

/** @throws LeaseFault `io` if the file exists and cannot be read. */
export function readText(path: string): FileText {
  try {
    const descriptor = openSync(path, READ)
    try {
      return readDescriptor(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    return missingOrOdd(path, error)
  }
}

/** The text behind an open descriptor, from its beginning. Throws what the system says. */
export function readDescriptor(descriptor: number): FileText {
  const length = readSync(descriptor, buffer, 0, MAX_FILE_BYTES, 0)
  if (length === MAX_FILE_BYTES) return ODD
  return { kind: 'text', text: buffer.toString('latin1', 0, length) }
}

/** What `readText` will say of a file that was written with this content. */
export function asFileText(content: string): string {
  return Buffer.from(content).toString('latin1')
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
 * Which thing a path names at this moment, a link being a thing of its own, and when it was last written. Empty if
 * there is none.
 *
 * @throws LeaseFault `io`.
 */
export function fileIdentity(path: string): string {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats === undefined ? '' : `${stats.dev}:${stats.ino} ${stats.size} ${stats.mtimeMs}`
  } catch (error) {
    throw ioFault('read', path, error)
  }
}

/** The device and number of the file that a path leads to; undefined if there is none. @throws LeaseFault `io`. */
export function fileNumber(path: string): string | undefined {
  try {
    const stats = statSync(path, EXACT_IF_ANY)
    return stats === undefined ? undefined : `${stats.dev}:${stats.ino}`
  } catch (error) {
    if (errnoOf(error) === 'ELOOP') return undefined
    throw ioFault('read', path, error)
  }
}

const EXACT_IF_ANY = { bigint: true, throwIfNoEntry: false } as const
const EXACT = { bigint: true } as const

/** Whether a descriptor still is what the path names. File numbers may be beyond what a double holds: bigint. */
export function stillNamed(path: string, descriptor: number): boolean {
  const atPath = statSync(path, EXACT_IF_ANY)
  return atPath !== undefined && sameStats(atPath, fstatSync(descriptor, EXACT))
}

/** Whether two descriptors are of one file. */
export function sameFile(one: number, other: number): boolean {
  return sameStats(fstatSync(one, EXACT), fstatSync(other, EXACT))
}

function sameStats(one: { dev: bigint; ino: bigint }, other: { dev: bigint; ino: bigint }): boolean {
  return one.ino === other.ino && one.dev === other.dev
}
