/**
 * Installs and builds what the stamps say is missing. Progress and errors go to stderr; each step's own output is shown
 * only if it fails.
 */
import { relative } from 'node:path'
import { buildFingerprint, filesUnder, installFingerprint } from './fingerprint.mjs'
import { nativeFiles, nativeLockFault } from './native-lock.mjs'
import { pnpmCommand } from './pnpm-command.mjs'
import { withSetupLock } from './setup-lock.mjs'
import { forget, remember, stateOf } from './stamp.mjs'
import { runStep, StepFailed } from './step.mjs'
import { compileEnvironment, explainMissing, MissingTools, missingTools } from './toolchain.mjs'

const say = (line) => process.stderr.write(`agentmux: ${line}\n`)

async function install(root, packages, started) {
  forget(root, 'installed')
  forget(root, 'built')
  const fingerprint = installFingerprint(root, packages)
  say('installing dependencies')
  const pnpm = await pnpmCommand(root, started)
  const env = pnpm.env(compileEnvironment())
  const run = (step, ...args) => runStep(step, { command: pnpm.command, args, cwd: root, env, started })
  await run('installing dependencies', 'install', '--frozen-lockfile')
  // An install that was interrupted, or made for another Node, may leave a binary that pnpm takes for good.
  if (nativeLockFault(packages)) await run('compiling the native file lock', 'rebuild', 'fs-ext')
  const fault = nativeLockFault(packages)
  if (fault) throw new StepFailed('loading the native file lock', fault, '')
  const files = ['node_modules/.modules.yaml', ...nativeFiles(packages).map((file) => relative(root, file))]
  remember(root, 'installed', { fingerprint, files })
}

async function build(root, packages, started) {
  forget(root, 'built')
  const fingerprint = buildFingerprint(root, packages)
  say('building')
  const pnpm = await pnpmCommand(root, started)
  await runStep('building', {
    command: pnpm.command,
    args: ['exec', 'turbo', 'run', 'build', '--output-logs=errors-only', '--ui=stream', '--no-color'],
    cwd: root,
    env: pnpm.env({ ...process.env, TURBO_TELEMETRY_DISABLED: '1' }),
    started
  })
  const files = packages.flatMap((p) => filesUnder(root, `${p.path}/dist`))
  remember(root, 'built', { fingerprint, files })
}

/**
 * @param {string} root
 * @param {import('../workspace.mjs').WorkspacePackage[]} packages
 * @throws {Error} for reportFailure
 */
export async function bringUpToDate(root, packages) {
  // Before anything is done or printed: a missing compiler is the one thing a person has to mend first.
  if (nativeLockFault(packages)) {
    const missing = missingTools()
    if (missing.length > 0) throw new MissingTools(explainMissing(missing))
  }
  await withSetupLock(root, say, async (started) => {
    if (!stateOf(root, packages).installed) await install(root, packages, started)
    if (!stateOf(root, packages).built) await build(root, packages, started)
  })
}
