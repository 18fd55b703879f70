/**
 * Lets one set-up at a time change node_modules and dist. The lock is a folder with the pids that work under it; it is
 * stale as soon as all of them are dead, so a killed set-up delays nobody and the installer it may have left running
 * is still waited for.
 */
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive, processStart } from './process-alive.mjs'
import { setupFolder } from './stamp.mjs'

const POLL_MS = 100
/** The breaker is held for a few synchronous calls; if it is older, whoever made it died in between. */
const BREAKER_STALE_MS = 10_000

const lockFolder = (root) => join(setupFolder(root), 'lock')

/** The processes of the lock, or undefined if there is none. A lock is never seen without its pids: see tryLock. */
function workers(root) {
  try {
    return JSON.parse(readFileSync(join(lockFolder(root), 'workers.json'), 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw new Error(`cannot read the set-up lock ${lockFolder(root)}: ${error.message}; remove that folder`)
  }
}

function writeWorkers(folder, pids) {
  const text = JSON.stringify(pids.map((pid) => ({ pid, start: processStart(pid) })))
  writeFileSync(join(folder, 'next.json'), text)
  renameSync(join(folder, 'next.json'), join(folder, 'workers.json'))
}

/** Made complete beside its place and renamed into it: the rename fails if a lock is there, since it is not empty. */
function tryLock(root) {
  const prepared = join(setupFolder(root), `lock.${process.pid}`)
  mkdirSync(prepared, { recursive: true })
  writeWorkers(prepared, [process.pid])
  try {
    renameSync(prepared, lockFolder(root))
    return true
  } catch (error) {
    rmSync(prepared, { recursive: true, force: true })
    if (['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(error.code)) return false
    throw error
  }
}

/** Moved away before it is emptied, so that there is never a lock without its pids in that place. */
function removeLock(root) {
  const removed = join(setupFolder(root), `unlocked.${process.pid}`)
  renameSync(lockFolder(root), removed)
  rmSync(removed, { recursive: true, force: true })
}

/** Removes a stale lock. Two that find it stale must not remove each other's new one: hence the breaker, and a second look. */
function breakStale(root) {
  const breaker = join(setupFolder(root), 'lock.breaker')
  try {
    mkdirSync(breaker)
  } catch {
    const made = statSync(breaker, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - made > BREAKER_STALE_MS) rmSync(breaker, { recursive: true, force: true })
    return
  }
  try {
    const left = workers(root)
    if (left !== undefined && !left.some(isAlive)) removeLock(root)
  } finally {
    rmdirSync(breaker)
  }
}

/**
 * Runs `work` while no other set-up of this folder runs. `work` gets a function that records a child's pid.
 *
 * @param {string} root
 * @param {(line: string) => void} say
 * @param {(childStarted: (pid: number) => void) => Promise<void>} work
 */
export async function withSetupLock(root, say, work) {
  mkdirSync(setupFolder(root), { recursive: true })
  for (let said = false; !tryLock(root); ) {
    const alive = workers(root)?.filter(isAlive)
    if (alive?.length === 0) breakStale(root)
    else {
      if (!said && alive) say(`another set-up is running here (pid ${alive[0].pid}), waiting for it`)
      said ||= alive !== undefined
      await sleep(POLL_MS)
    }
  }
  try {
    await work((pid) => writeWorkers(lockFolder(root), [process.pid, pid]))
  } finally {
    removeLock(root)
  }
}
