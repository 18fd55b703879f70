/** Makes a folder for its owner alone, and those above it. Not by mkdir's own `recursive`: where nothing can be made, in /proc say, it never ends. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'

const MODE = 0o700

/** @throws what node:fs throws. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: MODE })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return
    const above = dirname(path)
    if (!hasCode(error, 'ENOENT') || above === path) throw error
    makeFolder(above)
    makeLast(path)
  }
}

function makeLast(path: string): void {
  try {
    mkdirSync(path, { mode: MODE })
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
