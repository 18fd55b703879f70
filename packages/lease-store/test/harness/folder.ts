/** A folder of its own for every test, gone afterwards. */
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** On the disk, as in real life: where the behaviour of the file system is part of the question. */
export function diskFolder(): string {
  return folderIn(tmpdir())
}

/** In memory where there is such a place: for the many that would only wait for a disk. */
export function temporaryFolder(): string {
  return folderIn(memory() ?? tmpdir())
}

function folderIn(parent: string): string {
  const folder = mkdtempSync(join(parent, 'lease-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

function memory(): string | undefined {
  try {
    accessSync('/dev/shm', constants.W_OK)
    return '/dev/shm'
  } catch {
    return undefined
  }
}
