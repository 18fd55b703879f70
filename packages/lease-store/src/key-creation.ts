/**
 * The first claim of a key: its folder, its counter and its lock file. Creations are serialised by a lock on the
 * folder itself, so that two keys that differ only in letter case cannot both appear.
 */
import { closeSync, constants, mkdirSync, openSync, readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { readEpoch, writeEpoch } from './epoch-file.js'
import { errnoOf, ioFault, LeaseFault } from './lease-fault.js'
import { foldedKey } from './lease-key.js'
import { LEASE_SUFFIX, type LeasePaths, LOCK_SUFFIX } from './lease-paths.js'
import { tryFlock } from './native-flock.js'
import { readText, SAFE } from './small-file.js'

/** @throws LeaseFault `io` if the folder cannot be made or is not one. */
export function createFolder(folder: string): void {
  try {
    // Only the owner: who may write here may name processes to be ended.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw ioFault('create the folder', folder, error)
  }
}

/**
 * Creates the counter, then the lock file. The order matters: a lock file without a counter then always means that
 * the counter was lost, and the next epoch is chosen accordingly.
 *
 * @throws LeaseFault `uid-case-conflict`; `io`.
 */
export function createKey(key: string, paths: LeasePaths): void {
  const folder = dirname(paths.lock)
  const folderLock = lockFolder(folder)
  try {
    refuseOtherCase(key, folder)
    const fresh = readText(paths.lease).kind === 'missing' && readText(paths.epoch).kind === 'missing'
    if (fresh && readEpoch(paths.epoch) === undefined) writeEpoch(paths.epoch, 0)
    closeSync(openSync(paths.lock, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | SAFE, 0o644))
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw ioFault('create', paths.lock, error)
  } finally {
    if (folderLock !== undefined) closeSync(folderLock)
  }
}

/** @throws LeaseFault `uid-case-conflict` if another key differs from this one only in letter case. */
export function refuseOtherCase(key: string, folder: string): void {
  const folded = foldedKey(key)
  for (const name of readdirSync(folder)) {
    const other = keyOfFile(name)
    if (other === undefined || other === key || foldedKey(other) !== folded) continue
    throw new LeaseFault(
      `the agent UID ${JSON.stringify(key)} differs from the existing ${JSON.stringify(other)} only in letter ` +
        'case; use the existing one',
      { code: 'uid-case-conflict', path: `${folder}/${basename(name)}` }
    )
  }
}

function keyOfFile(name: string): string | undefined {
  if (name.endsWith(LOCK_SUFFIX)) return name.slice(0, -LOCK_SUFFIX.length)
  if (name.endsWith(LEASE_SUFFIX)) return name.slice(0, -LEASE_SUFFIX.length)
  return undefined
}

/**
 * Undefined where a folder cannot be locked (network file systems, Windows), and when it stays locked: creation
 * then goes on unserialised, and only a conflict in the same instant could be missed.
 */
function lockFolder(folder: string): number | undefined {
  let descriptor: number
  try {
    descriptor = openSync(folder, constants.O_RDONLY)
  } catch (error) {
    if (process.platform === 'win32') return undefined
    throw ioFault('open the folder', folder, error)
  }
  try {
    for (const deadline = performance.now() + 500; performance.now() < deadline; ) {
      if (tryFlock(descriptor)) return descriptor
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
    }
  } catch (error) {
    if (error instanceof LeaseFault) {
      closeSync(descriptor)
      throw error
    }
  }
  closeSync(descriptor)
  return undefined
}
