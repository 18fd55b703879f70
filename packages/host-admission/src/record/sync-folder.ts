/** Makes earlier creations and renames in a folder survive a power cut. */
import { closeSync, constants, fsyncSync, openSync } from 'node:fs'
import { recordFault } from './record-fault.js'

/** @throws RecordFault `io`. */
export function syncFolder(folder: string): void {
  // Windows cannot open a folder, and needs no sync of it.
  if (process.platform === 'win32') return
  try {
    const descriptor = openSync(folder, constants.O_RDONLY)
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    throw recordFault('sync', folder, error)
  }
}
