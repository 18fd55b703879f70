/** Every example in a package's README compiles against the build, runs, and prints what the README says. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { workspacePackages } from '../../scripts/workspace.mjs'
import { type ExampleFolder, exampleFolder } from './example-folder.js'
import { examplesOf, matchesOutput } from './fenced-blocks.js'

const packages = workspacePackages().filter((p) => p.manifest.private !== true)

describe.each(packages.map((p) => [p.path, p] as const))('%s/README.md', (_, owner) => {
  const file = join(owner.dir, 'README.md')
  const examples = existsSync(file) ? examplesOf(readFileSync(file, 'utf8')) : []
  let folder: ExampleFolder
  beforeAll(() => {
    folder = exampleFolder(owner)
  })
  afterAll(() => folder.remove())

  test('has an example', () => {
    expect(examples.length, 'a block marked ```ts, or ```sh example for a program').toBeGreaterThan(0)
  })

  test.each(examples)('the $language example at line $line works as it says', (example) => {
    if (example.language === 'ts') expect(folder.typeErrors(example)).toBe('')
    const { code, stdout, stderr } = folder.run(example)
    expect(code, stdout + stderr).toBe(0)
    if (example.expectedOutput === undefined) return
    if (!matchesOutput(stdout, example.expectedOutput)) expect(stdout).toBe(example.expectedOutput)
  })
})
