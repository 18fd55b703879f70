import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { buildFingerprint, installFingerprint } from '../../scripts/setup/fingerprint.mjs'
import { forget, remember, stateOf } from '../../scripts/setup/stamp.mjs'
import { workspacePackages } from '../../scripts/workspace.mjs'
import { temporaryFolder } from './temporary-folder.js'

/** A workspace of one package that has been installed and built. */
function doneWorkspace() {
  const root = temporaryFolder()
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  for (const file of ['pnpm-lock.yaml', 'turbo.json', 'tsup.base.ts', 'tsconfig.base.json']) write(file, '')
  write('package.json', '{}')
  write('pnpm-workspace.yaml', 'packages:\n  - packages/*\n')
  write('packages/one/package.json', '{ "name": "one" }')
  write('packages/one/tsup.config.ts', '')
  write('packages/one/src/index.ts', 'export {}')
  write('packages/one/dist/index.js', '')
  write('node_modules/.modules.yaml', '')
  const state = () => stateOf(root, workspacePackages(root))
  const packages = workspacePackages(root)
  const installed = { fingerprint: installFingerprint(root, packages), files: ['node_modules/.modules.yaml'] }
  const built = { fingerprint: buildFingerprint(root, packages), files: ['packages/one/dist/index.js'] }
  remember(root, 'installed', installed)
  remember(root, 'built', built)
  return { root, write, state, remove: (path: string) => rmSync(join(root, path), { recursive: true }) }
}

test('nothing changed: nothing to do', () => {
  expect(doneWorkspace().state()).toEqual({ installed: true, built: true })
})

test.each(['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'])('%s changed: install again', (file) => {
  const workspace = doneWorkspace()
  workspace.write(
    file,
    file.endsWith('.json') ? '{ "changed": 1 }' : 'packages:\n  - packages/*\n# changed\n'
  )
  expect(workspace.state().installed).toBe(false)
})

test('a manifest changed: install and build again', () => {
  const workspace = doneWorkspace()
  workspace.write('packages/one/package.json', '{ "name": "one", "version": "2.0.0" }')
  expect(workspace.state()).toEqual({ installed: false, built: false })
})

test.each([
  ['a source changed', 'packages/one/src/index.ts'],
  ['a source was added', 'packages/one/src/deep/er.ts'],
  ['a build setting changed', 'packages/one/tsup.config.ts'],
  ['a shared build setting changed', 'tsup.base.ts']
])('%s: build again, without installing', (_, file) => {
  const workspace = doneWorkspace()
  workspace.write(file, 'export const changed = 1')
  expect(workspace.state()).toEqual({ installed: true, built: false })
})

test('a source of the same size with another time: build again', () => {
  const workspace = doneWorkspace()
  utimesSync(join(workspace.root, 'packages/one/src/index.ts'), 1, 1)
  expect(workspace.state().built).toBe(false)
})

test('a source was removed: build again', () => {
  const workspace = doneWorkspace()
  workspace.remove('packages/one/src/index.ts')
  expect(workspace.state().built).toBe(false)
})

test('what was made is gone: make it again', () => {
  const workspace = doneWorkspace()
  workspace.remove('packages/one/dist')
  expect(workspace.state()).toEqual({ installed: true, built: false })
  workspace.remove('node_modules')
  expect(workspace.state()).toEqual({ installed: false, built: false })
})

test('a new package that is not yet built is noticed', () => {
  const workspace = doneWorkspace()
  workspace.write('packages/two/package.json', '{ "name": "two" }')
  expect(workspace.state()).toEqual({ installed: false, built: false })
})

test('a stamp that was removed, or that is not JSON, is no stamp', () => {
  const workspace = doneWorkspace()
  forget(workspace.root, 'built')
  workspace.write('.setup/installed.json', '{ "fing')
  expect(workspace.state()).toEqual({ installed: false, built: false })
})
