/**
 * `npm start -- ARGUMENTS`: sets up what is missing, then becomes agentmux-srv. The command line runs in this very
 * process, so the terminal, the signals and the exit code are its own business.
 */
import './setup/node-version.mjs'

const { setup } = await import('./setup.mjs')

if (await setup()) {
  const { join } = await import('node:path')
  const { pathToFileURL } = await import('node:url')
  const { leaveNpm } = await import('./start/leave-npm.mjs')
  const { repositoryRoot } = await import('./workspace.mjs')
  const cli = join(repositoryRoot, 'apps/srv/dist/cli.js')
  leaveNpm(repositoryRoot)
  process.argv[1] = cli
  await import(pathToFileURL(cli).href)
}
