import { expect, test } from 'vitest'
import { layerViolations } from '../../scripts/check-layers.mjs'
import { workspaceFixture } from './workspace-fixture.js'

const STORE = 'packages/lease-store/src/index.ts'
const MODEL = 'packages/lease-model/src/index.ts'

/** The violations of a workspace in which `file` reads `text`. */
async function violationsWith(file: string, text: string) {
  const workspace = workspaceFixture()
  workspace.write(file, text)
  return await layerViolations(workspace.root)
}

test('imports that keep the layers are no violation', async () => {
  const text = `import { flockSync } from 'fs-ext'
import { createRequire } from 'node:module'
import type { Clock } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { z } from 'zod/mini'
import { own } from './deeper/own.js'
const require = createRequire(import.meta.url)
require('fs-ext')`
  expect(await violationsWith(STORE, text)).toEqual([])
  expect(await violationsWith('packages/lease-store/src/deeper/own.ts', `import '../index.js'`)).toEqual([])
})

const UPWARDS = '@agentmux/host-admission'

test.each([
  ['a static import', `import { acquire } from '${UPWARDS}'`],
  ['an import for its effects', `import '${UPWARDS}'`],
  ['a type-only import', `import type { Held } from '${UPWARDS}'`],
  ['a re-export', `export { acquire } from '${UPWARDS}'`],
  ['a re-export of everything', `export * from '${UPWARDS}'`],
  ['a re-export of a type', `export type { Held } from '${UPWARDS}'`],
  ['an import type', `export type Held = import('${UPWARDS}').Held`],
  ['a dynamic import', `export const late = () => import('${UPWARDS}')`],
  ['a dynamic import in a template', `export const late = () => import(\`${UPWARDS}\`)`],
  ['an import assignment', `import admission = require('${UPWARDS}')`],
  ['a require', `require('${UPWARDS}')`],
  ['a require.resolve', `require.resolve('${UPWARDS}')`],
  ['an import.meta.resolve', `import.meta.resolve('${UPWARDS}')`],
  ['a require by another name', `const load = createRequire(import.meta.url)\nload('${UPWARDS}')`],
  ['a require made and used at once', `createRequire(import.meta.url)('${UPWARDS}')`],
  ['a types reference', `/// <reference types="${UPWARDS}" />`]
])('an import upwards is found as %s', async (_, text) => {
  const [violation, ...others] = await violationsWith(STORE, `// line one\n${text}`)
  const line = text.includes('\n') ? 3 : 2
  expect(violation).toContain(`${STORE}:${line}: import`)
  expect(violation).toContain(UPWARDS)
  expect(violation).toContain('arrows only go down: have an app pass it in as a port')
  expect(others).toEqual([])
})

test('text that only looks like an import is none', async () => {
  expect(
    await violationsWith(STORE, `// import '${UPWARDS}'\nexport const text = "from '${UPWARDS}'"`)
  ).toEqual([])
})

test('siblings do not import each other', async () => {
  const workspace = workspaceFixture()
  workspace.addPackage('packages/lan-tier', { dependencies: { '@agentmux/lease-model': 'workspace:^' } })
  workspace.write('packages/lan-tier/src/index.ts', `import { ensure } from '@agentmux/wan-client'`)
  expect(await layerViolations(workspace.root)).toEqual([
    expect.stringContaining("packages/lan-tier/src/index.ts:1: import '@agentmux/wan-client'")
  ])
})

test.each([
  ['leaves the package', `import '../../lease-model/src/index.js'`, 'a relative import leaves the package'],
  ['enters a folder whose name only begins alike', `import '../../lease-store-2/x.js'`, 'leaves the package'],
  ['is a path from the root', `import '/etc/x.js'`, 'import by package name'],
  ['is a URL', `import 'file:///etc/x.js'`, 'import by package name'],
  ['is computed', 'export const load = (name: string) => import(name)', 'name it in a string'],
  ['names its own package', `import '@agentmux/lease-store'`, 'use a relative path'],
  ['is of no layer', `import '@agentmux/unheard-of'`, 'arrows only go down'],
  ['is not allowed here', `import pino from 'pino'`, 'may use from the registry: fs-ext, zod']
])('an import is refused that %s', async (_, text, rule) => {
  expect(await violationsWith(STORE, text)).toEqual([expect.stringContaining(rule)])
})

test('a dependency that is allowed still has to be declared', async () => {
  const workspace = workspaceFixture()
  workspace.addPackage('packages/lease-store', { dependencies: { 'fs-ext': '^2.1.1' } })
  workspace.write(STORE, `import { z } from 'zod'`)
  expect(await layerViolations(workspace.root)).toEqual([
    `${STORE}:1: import 'zod': not declared; add "zod" to the dependencies in packages/lease-store/package.json`
  ])
})

test.each([`import 'node:fs'`, `import 'fs'`, `import 'node:net'`, `process.getBuiltinModule('node:fs')`])(
  'lease-model does no I/O: %s',
  async (text) => {
    expect(await violationsWith(MODEL, text)).toEqual([
      expect.stringContaining('@agentmux/lease-model may use of Node: node:os, node:perf_hooks')
    ])
  }
)

test('only lease-store touches the native lock, whatever an app may otherwise import', async () => {
  const workspace = workspaceFixture()
  workspace.addPackage('apps/srv', { dependencies: { fastify: '^5.0.0', 'fs-ext': '^2.1.1' } })
  workspace.write('apps/srv/src/index.ts', `import 'fastify'\nimport 'fs-ext'`)
  workspace.addPackage('packages/host-admission', { dependencies: { 'fs-ext': '^2.1.1' } })
  expect(await layerViolations(workspace.root)).toEqual([
    expect.stringMatching(/^apps\/srv\/src\/index\.ts:2: import 'fs-ext': only @agentmux\/lease-store/),
    expect.stringMatching(
      /^packages\/host-admission\/package\.json:\d+: dependencies fs-ext: only @agentmux\//
    )
  ])
})
