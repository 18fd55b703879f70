/**
 * SQLite for the relay (better-sqlite3), compiled where it is first needed: it takes a minute, and whoever runs agents on
 * one computer never needs it. It counts as there only when it has been loaded once by this Node.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join, relative } from 'node:path'
import { environmentOutsideNpm } from '../start/leave-npm.mjs'
import { repositoryRoot } from '../workspace.mjs'
import { reportFailure } from './report-failure.mjs'
import { withSetupLock } from './setup-lock.mjs'
import { isRemembered, remember } from './stamp.mjs'
import { runStep, StepFailed } from './step.mjs'
import { compileEnvironment, explainMissing, MissingTools, missingTools } from './toolchain.mjs'

const NAME = 'better-sqlite3'
const USER = 'apps/relay'
const BINARY = 'build/Release/better_sqlite3.node'
const STAMP = 'relay-database'

const say = (line) => process.stderr.write(`agentmux: ${line}\n`)

/** Why it cannot be used, or undefined; in a process of its own: a binary made for another Node may do worse than throw. */
function fault(folder) {
  const probe = `new (require(${JSON.stringify(folder)}))(':memory:').exec('SELECT 1')`
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', probe], { encoding: 'utf8' })
  if (status === 0) return undefined
  return /^\w*Error: .*$/m.exec(stderr)?.[0] ?? (signal ? `killed by ${signal}` : `exit code ${status}`)
}

async function compile(root, folder, started) {
  const missing = missingTools()
  if (missing.length > 0) throw new MissingTools(explainMissing(missing, `SQLite for the relay (${NAME})`))
  say('compiling SQLite for the relay, once; it takes a minute')
  await runStep('compiling SQLite for the relay', {
    command: 'npm',
    args: ['run', 'build-release', '--loglevel=error'],
    cwd: folder,
    // Under `npm run` an npm would look for the script in this repository instead.
    env: compileEnvironment(environmentOutsideNpm(root)),
    started
  })
  const why = fault(folder)
  if (why) throw new StepFailed('loading SQLite for the relay', `${NAME} does not load: ${why}`, '')
}

/**
 * Whether it can be used afterwards; after the set-up. If not, a person has been told why, and the exit code is set.
 *
 * @param {string} [root]
 * @returns {Promise<boolean>}
 */
export async function compileRelayDatabase(root = repositoryRoot) {
  const folder = join(root, USER, 'node_modules', NAME)
  if (!existsSync(folder)) return true
  const real = realpathSync(folder)
  const fingerprint = `${process.platform} ${process.arch} ${process.versions.modules} ${real}`
  if (isRemembered(root, STAMP, fingerprint)) return true
  try {
    await withSetupLock(root, say, async (started) => {
      if (fault(real)) await compile(root, real, started)
      remember(root, STAMP, { fingerprint, files: [relative(root, join(real, BINARY))] })
    })
    return true
  } catch (error) {
    reportFailure(error)
    return false
  }
}
