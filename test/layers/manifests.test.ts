import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { layerViolations } from '../../scripts/check-layers.mjs'
import { workspaceFixture } from './workspace-fixture.js'

const OURS = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`@agentmux/${name}`, 'workspace:^']))

test.each(['dependencies', 'peerDependencies', 'optionalDependencies'])(
  'a package upwards is found among %s',
  async (field) => {
    const workspace = workspaceFixture()
    workspace.addPackage('packages/refusals', { [field]: OURS('host-admission') })
    expect(await layerViolations(workspace.root)).toEqual([
      expect.stringMatching(
        new RegExp(
          `^packages/refusals/package\\.json:\\d+: ${field} @agentmux/host-admission: not a layer below`
        )
      )
    ])
  }
)

test('a dependency from the registry must be in the table', async () => {
  const workspace = workspaceFixture()
  workspace.addPackage('packages/lease-model', { dependencies: { lodash: '^4.0.0' } })
  expect(await layerViolations(workspace.root)).toEqual([
    expect.stringMatching(/^packages\/lease-model\/package\.json:\d+: dependencies lodash: not allowed for/)
  ])
})

test('what must install without a compiler does not reach the native lock, not even through another', async () => {
  const workspace = workspaceFixture()
  workspace.addPackage('packages/lan-tier', { dependencies: OURS('lease-store') })
  const violations = await layerViolations(workspace.root)
  expect(violations).toContainEqual(
    expect.stringContaining('reaches fs-ext (@agentmux/lan-tier -> @agentmux/lease-store -> fs-ext)')
  )
})

test('a package that is in no layer is pointed to the table', async () => {
  const workspace = workspaceFixture()
  workspace.addPackage('packages/novelty')
  expect(await layerViolations(workspace.root)).toEqual([
    expect.stringContaining('is in no layer; give it a row in the table of scripts/check-layers.mjs')
  ])
})

test.each([
  ['type', 'commonjs', 'type must be "module"'],
  ['license', 'MIT', 'license must be "Apache-2.0"'],
  ['sideEffects', undefined, 'sideEffects must be false'],
  ['engines', { node: '>=18' }, 'engines.node must be ">=20.19"']
])('the field %s is the same in every package', async (field, value, rule) => {
  const workspace = workspaceFixture()
  workspace.addPackage('packages/lease-model', { [field]: value })
  expect(await layerViolations(workspace.root)).toEqual([expect.stringContaining(rule)])
})

test('every package has a README', async () => {
  const workspace = workspaceFixture()
  rmSync(join(workspace.root, 'packages/lease-model/README.md'))
  expect(await layerViolations(workspace.root)).toEqual([
    expect.stringContaining('packages/lease-model/README.md:1: missing')
  ])
})
