/**
 * One writer of hold files at a time: a flock on the folder itself, so that nothing is created for it. Kept for a read and a
 * rename, never across an await. Whoever cannot get it writes nothing: two that write unseen take each other's hold away.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { tryFlock } from '@agentmux/lease-store'

/** Milliseconds. It stands still meanwhile; far below what the watchdog allows. */
const PATIENCE_MS = 1_000
const PAUSE_MS = 2
const CANNOT = ['EBADF', 'EINVAL', 'EISDIR', 'ENOLCK', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP']

const pause = new Int32Array(new SharedArrayBuffer(4))

/** @throws what node:fs throws; an Error if somebody keeps it, stopped in the middle; whatever `work` throws. */
export function lockingHolds<T>(folder: string, work: () => T): T {
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    for (const untilMs = performance.now() + PATIENCE_MS; !isLocked(descriptor); ) {
      if (performance.now() > untilMs)
        throw new Error(`another process keeps the folder of leases locked: ${folder}`)
      Atomics.wait(pause, 0, 0, PAUSE_MS)
    }
    return work()
  } finally {
    closeSync(descriptor)
  }
}

/** Some file systems lock files and no folders, NFS among them: there two that write at once may miss each other. */
function isLocked(descriptor: number): boolean {
  try {
    return tryFlock(descriptor)
  } catch (error) {
    if (error instanceof Error && 'code' in error && CANNOT.includes(String(error.code))) return true
    throw error
  }
}
