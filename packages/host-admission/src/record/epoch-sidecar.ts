/**
 * The small file beside the segments with the highest epoch that the record has seen (R10). It is raised before the
 * first line of an epoch is written, so it is never behind the lines; damaged or gone, the lines still tell.
 */
import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { syncFolder } from '@agentmux/lease-store'
import { errnoOf, recordFault } from './record-fault.js'
import { isEpoch } from './record-line.js'
import type { RecordPaths } from './record-paths.js'
import { SAFE } from './safe-open.js'

const LONGEST = 18

/** The epoch; undefined if the file is missing or does not hold exactly one epoch. */
export function readEpochSidecar(path: string): number | undefined {
  const bytes = Buffer.alloc(LONGEST)
  let length: number
  try {
    const descriptor = openSync(path, constants.O_RDONLY | SAFE)
    try {
      length = readSync(descriptor, bytes, 0, LONGEST, 0)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'ELOOP', 'ENXIO', 'EAGAIN', 'ESPIPE'].includes(errnoOf(error))) return undefined
    throw recordFault('read', path, error)
  }
  const text = bytes.toString('latin1', 0, length)
  if (!/^\d{1,16}\n$/.test(text)) return undefined
  return isEpoch(Number(text)) ? Number(text) : undefined
}

/**
 * Replaces the file atomically and durably. The caller holds the lock and has checked that the epoch is higher.
 *
 * @throws RecordFault `io`, or LeaseFault `io` from the folder; the old file is then still in place.
 */
export function raiseEpochSidecar(paths: RecordPaths, epoch: number): void {
  const temporary = `${paths.epoch}.tmp`
  try {
    // Left by a writer that died under the lock: nobody's.
    rmSync(temporary, { force: true })
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFE
    const descriptor = openSync(temporary, flags, 0o600)
    try {
      writeFileSync(descriptor, `${epoch}\n`)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(temporary, paths.epoch)
  } catch (error) {
    throw recordFault('write', paths.epoch, error)
  }
  syncFolder(paths.folder)
}
