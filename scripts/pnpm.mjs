/**
 * `node scripts/pnpm.mjs ARGUMENTS`: the pinned pnpm, on a machine that has none or another. It is also first on the PATH
 * of what it starts, which turbo needs.
 */
import './setup/node-version.mjs'
import { runVisible } from './run-visible.mjs'
import { pnpmCommand } from './setup/pnpm-command.mjs'
import { repositoryRoot } from './workspace.mjs'

const pnpm = await pnpmCommand(repositoryRoot)
process.exitCode = await runVisible(pnpm.command, process.argv.slice(2), { env: pnpm.env() })
