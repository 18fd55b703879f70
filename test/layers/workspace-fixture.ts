/** A small workspace on disk that keeps every rule, to be broken one rule at a time. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

type Manifest = Record<string, unknown>

export interface WorkspaceFixture {
  readonly root: string
  write(file: string, text: string): void
  /** Adds or replaces a package; fields of `changes` that are undefined are left out. */
  addPackage(path: string, changes?: Manifest): void
}

export function workspaceFixture(): WorkspaceFixture {
  const root = mkdtempSync(join(tmpdir(), 'layers-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  const addPackage = (path: string, changes: Manifest = {}) => {
    const manifest = {
      name: `@agentmux/${path.split('/')[1]}`,
      license: 'Apache-2.0',
      type: 'module',
      sideEffects: false,
      engines: { node: '>=20.19' },
      ...changes
    }
    write(`${path}/package.json`, JSON.stringify(manifest, undefined, 2))
    write(`${path}/README.md`, '# A package\n')
    write(`${path}/src/index.ts`, 'export {}\n')
  }
  write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n  - apps/*\n')
  addPackage('packages/lease-model')
  addPackage('packages/lease-store', {
    dependencies: { '@agentmux/lease-model': 'workspace:^', 'fs-ext': '^2.1.1', zod: '^4.6.7' }
  })
  return { root, write, addPackage }
}
