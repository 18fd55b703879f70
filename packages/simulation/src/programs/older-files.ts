/** Files, the lock and the start of a process, as builds handle them that came before ours. */
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync
} from 'node:fs'
import { uptime } from 'node:os'

/** Fails with EAGAIN where somebody has it. */
export type Flock = (descriptor: number, how: 'exnb') => void

const TICKS_PER_S = 100

/** Whole or not at all; whether the new name is on the disk is not waited for. */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${randomUUID()}.tmp`
  const descriptor = openSync(temporary, constants.O_WRONLY | constants.O_CREAT)
  try {
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, path)
}

export function makeFolders(path: string): void {
  const parts = path.split('/')
  for (let count = 2; count <= parts.length; count++) {
    const folder = parts.slice(0, count).join('/')
    if (existsSync(folder)) continue
    try {
      mkdirSync(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** False where somebody else has it. */
export function tryLock(flock: Flock, descriptor: number): boolean {
  try {
    flock(descriptor, 'exnb')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false
    throw error
  }
}

/** When a process started, Unix seconds: the time of boot, which moves when the clock is stepped, and its ticks. */
export function startSeconds(pid: number): number | undefined {
  let line: string
  try {
    line = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const bootedAtS = Math.round(Date.now() / 1_000 - uptime())
  return bootedAtS + Math.floor(Number(fields[19]) / TICKS_PER_S)
}
