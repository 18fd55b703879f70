/** Packs every package once, before the tests of this folder. */
import { rmSync } from 'node:fs'
import type { TestProject } from 'vitest/node'
import { packAll } from './packed-packages.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder with the tarballs. */
    packed: string
  }
}

export async function setup(project: TestProject): Promise<() => void> {
  const folder = await packAll()
  project.provide('packed', folder)
  return () => rmSync(folder, { recursive: true, force: true })
}
