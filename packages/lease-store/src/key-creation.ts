/**
 * The first claim of a key: its folder, its counter and its lock file. Creations are serialised by a lock on the
 * folder itself, so that two keys that differ only in letter case cannot both appear.
 */
import { closeSync, constants, openSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createUnlessThere } from './durable-file.js'
import { createEpoch } from './epoch-file.js'
import { createFolder } from './folder-creation.js'
import { errnoOf, ioFault, LeaseFault } from './lease-fault.js'
import { foldedKey } from './lease-key.js'
import { LEASE_SUFFIX, type LeasePaths, LOCK_SUFFIX } from './lease-paths.js'
import { pause } from './lock-pause.js'
import type { TryFlock } from './native-flock.js'
import { readText } from './small-file.js'

export interface KeyCreationOptions {
  readonly tryFlock: TryFlock
  readonly signal: AbortSignal | undefined
}

/** A creation reads one folder; whoever has it locked for this long is stopped. */
const FOLDER_LOCK_WAIT_MS = 500

/**
 * Creates the counter, then the lock file. The order matters: a lock file without a counter then always means that
 * the counter was lost, and the next epoch is chosen accordingly. Nothing that is already there is touched: another
 * process, or an older build that does not lock the folder, may be creating the same key.
 *
 * @throws LeaseFault `uid-case-conflict`; `io`; `lock-module-missing`; the signal's reason.
 */
export async function createKey(key: string, paths: LeasePaths, options: KeyCreationOptions): Promise<void> {
  const folder = dirname(paths.lock)
  createFolder(folder)
  const folderLock = await lockFolder(folder, options)
  try {
    refuseOtherCase(key, folder)
    // A lease without a lock is of a key that was used: then its counter is lost, too, if it is not there.
    if (readText(paths.lease).kind === 'missing') createEpoch(paths.epoch)
    recreateLock(paths.lock)
  } finally {
    if (folderLock !== undefined) closeSync(folderLock)
  }
}

/**
 * The lock file of a key that is held, should somebody have removed it. Without a counter: if that is gone as well it was
 * not never there, but lost.
 *
 * @throws LeaseFault `io`, with ENOENT if the folder is gone.
 */
export function recreateLock(path: string): void {
  createUnlessThere(path, '')
}

/** @throws LeaseFault `uid-case-conflict` if another key differs from this one only in letter case; `io`. */
export function refuseOtherCase(key: string, folder: string): void {
  const folded = foldedKey(key)
  for (const name of namesIn(folder)) {
    const other = keyOfFile(name)
    if (other === undefined || other === key || foldedKey(other) !== folded) continue
    throw new LeaseFault(
      `the agent UID ${JSON.stringify(key)} differs from the existing ${JSON.stringify(other)} only in letter ` +
        'case; use the existing one',
      { code: 'uid-case-conflict', path: join(folder, name) }
    )
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw ioFault('read the folder', folder, error)
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
async function lockFolder(folder: string, options: KeyCreationOptions): Promise<number | undefined> {
  let descriptor: number
  try {
    descriptor = openSync(folder, constants.O_RDONLY)
  } catch (error) {
    if (process.platform === 'win32') return undefined
    throw ioFault('open the folder', folder, error)
  }
  let locked = false
  try {
    locked = await lockWithin(FOLDER_LOCK_WAIT_MS, descriptor, options)
  } catch (error) {
    // A system error says that folders cannot be locked here; an abort, or no native lock at all, is for the caller.
    if (error instanceof LeaseFault || errnoOf(error) === '') throw error
  } finally {
    if (!locked) closeSync(descriptor)
  }
  return locked ? descriptor : undefined
}

async function lockWithin(
  waitMs: number,
  descriptor: number,
  { tryFlock, signal }: KeyCreationOptions
): Promise<boolean> {
  const startedMs = performance.now()
  for (let attempt = 1; ; attempt++) {
    if (tryFlock(descriptor)) return true
    if (performance.now() - startedMs >= waitMs) return false
    await pause(attempt, signal)
  }
}
