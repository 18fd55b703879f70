/** Where the measured files lie: a folder on a disk, and one in memory. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TMPFS = 0x01021994
const RAMFS = 0x858458f6
const MEMORY = '/dev/shm'
const made = []

process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

/** A fresh folder that is removed at exit. */
export function freshFolder(parent) {
  const folder = mkdtempSync(join(parent, 'agentmux-bench-'))
  made.push(folder)
  return folder
}

/** A parent on a real disk: the one asked for, else the first of the usual places that is not in memory. */
export function diskParent(asked = '') {
  if (asked !== '') return asked
  const candidates = [tmpdir(), homedir(), fileURLToPath(new URL('../../node_modules', import.meta.url))]
  return candidates.find((folder) => !inMemory(folder)) ?? tmpdir()
}

/** /dev/shm, or undefined where there is none. */
export function memoryParent() {
  return inMemory(MEMORY) ? MEMORY : undefined
}

function inMemory(folder) {
  try {
    const { type } = statfsSync(folder)
    return type === TMPFS || type === RAMFS
  } catch {
    return false
  }
}
