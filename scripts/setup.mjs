/**
 * Makes sure that dependencies are installed, the native lock loads and everything is built. Comparing is all it does
 * when nothing changed: a few milliseconds, no output, no process, no lock.
 */
import { stateOf } from './setup/stamp.mjs'
import { repositoryRoot, workspacePackages } from './workspace.mjs'

/**
 * Whether everything is in place afterwards. If not, a person has been told why on stderr, the reason first, and the
 * exit code of this process is set.
 *
 * @param {string} [root]
 * @returns {Promise<boolean>}
 */
export async function setup(root = repositoryRoot) {
  const packages = workspacePackages(root)
  const { installed, built } = stateOf(root, packages)
  if (installed && built) return true
  // Loaded only now: most starts never need it, and they should be immediate.
  const { bringUpToDate } = await import('./setup/bring-up-to-date.mjs')
  const { reportFailure } = await import('./setup/report-failure.mjs')
  try {
    await bringUpToDate(root, packages)
    return true
  } catch (error) {
    reportFailure(error)
    return false
  }
}
