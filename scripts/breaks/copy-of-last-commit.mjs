/** A second work tree of the last commit, in which patches can be tried without touching the first. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bringUpToDate } from '../setup/bring-up-to-date.mjs'
import { repositoryRoot, workspacePackages } from '../workspace.mjs'

export function copyOfLastCommit() {
  const folder = join(mkdtempSync(join(tmpdir(), 'agentmux-breaks-')), 'copy')
  const git = (/** @type {string[]} */ args, cwd = folder) => {
    const result = spawnSync('git', args, { cwd, encoding: 'utf8' })
    if (result.status !== 0) throw new Error(`git ${args.join(' ')} failed: ${result.stderr.trim()}`)
  }
  git(['worktree', 'add', '--quiet', '--detach', folder, 'HEAD'], repositoryRoot)
  return {
    folder,
    apply: (/** @type {string} */ patch) => git(['apply', '--whitespace=nowarn', patch]),
    /** Installs the first time; afterwards only what a patch touched is built. */
    build: () => bringUpToDate(folder, workspacePackages(folder)),
    reset: () => git(['checkout', '--quiet', '--', '.']),
    remove: () => {
      git(['worktree', 'remove', '--force', folder], repositoryRoot)
      rmSync(dirname(folder), { recursive: true, force: true })
    }
  }
}
