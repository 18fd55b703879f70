/**
 * `npm test`: everything that has to hold, in one go: set-up, lint, types, layers, what the tests need of the system, then
 * the tests of every package, one package at a time because many are about timing. A failure stops nothing; the last line is `N passed, N failed`.
 * `npm test -- --only NAME` runs the tests of the folders whose path contains NAME, and nothing else.
 */
import './setup/node-version.mjs'

const { setup } = await import('./setup.mjs')
if (!(await setup())) {
  process.stdout.write('0 passed, 1 failed\n')
  process.exit()
}

const { existsSync } = await import('node:fs')
const { join } = await import('node:path')
const { parseArgs } = await import('node:util')
const { runVisible } = await import('./run-visible.mjs')
const { pnpmCommand } = await import('./setup/pnpm-command.mjs')
const { installTestTools } = await import('./setup/test-tools.mjs')
const { runVitest } = await import('./test/vitest-suite.mjs')
const { repositoryRoot: root, workspacePackages } = await import('./workspace.mjs')

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values
const pnpm = await pnpmCommand(root)
const node = (...args) => runVisible(process.execPath, args, { cwd: root })
const tsc = (project) => node('node_modules/typescript/bin/tsc', '--noEmit', '-p', project)

/** Each is one command; a failure counts as one. */
const checks = {
  lint: () => node('node_modules/@biomejs/biome/bin/biome', 'check', '.'),
  'types of the packages': () =>
    runVisible(
      pnpm.command,
      ['exec', 'turbo', 'run', 'typecheck', '--continue', '--output-logs=errors-only', '--ui=stream'],
      {
        cwd: root,
        env: pnpm.env({ ...process.env, TURBO_TELEMETRY_DISABLED: '1' })
      }
    ),
  'types of scripts/': () => tsc('scripts'),
  'types of test/': () => tsc('test'),
  layers: () => node('scripts/check-layers.mjs')
}
/** A package without a vitest config counts as one that ran no test. The repository's own tests come last. */
const suites = [...workspacePackages(root).map((p) => p.path), 'test']

let passed = 0
let failed = 0
const problems = []
const announce = (name) => process.stdout.write(`\n== ${name}\n`)

for (const [name, run] of Object.entries(only === undefined ? checks : {})) {
  announce(name)
  const code = await run()
  if (code === 0) continue
  failed++
  problems.push(`${name}: exit code ${code}`)
}
if (!(await installTestTools())) {
  failed++
  problems.push('programs that tests need are missing: node scripts/setup/test-tools.mjs says which')
}
for (const folder of suites.filter((path) => path.includes(only ?? ''))) {
  announce(`tests of ${folder}`)
  const outcome = existsSync(join(root, folder, 'vitest.config.ts'))
    ? await runVitest(root, folder)
    : { passed: 0, failed: 1, problems: ['no vitest.config.ts'] }
  passed += outcome.passed
  failed += outcome.failed
  problems.push(...outcome.problems.map((problem) => `${folder}: ${problem}`))
}
if (passed + failed === 0) {
  failed++
  problems.push(`no folder matches --only ${only}`)
}
process.stdout.write('\n')
for (const problem of problems) process.stdout.write(`failed: ${problem}\n`)
process.stdout.write(`${passed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
