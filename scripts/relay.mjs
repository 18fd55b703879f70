/**
 * `npm run relay -- ARGUMENTS`: sets up what is missing, then becomes agentmux-relay, in this very process. Without
 * arguments it serves on this computer.
 */
import './setup/node-version.mjs'

const { setup } = await import('./setup.mjs')
const { compileRelayDatabase } = await import('./setup/relay-database.mjs')

if ((await setup()) && (await compileRelayDatabase())) {
  const { join } = await import('node:path')
  const { pathToFileURL } = await import('node:url')
  const { leaveNpm } = await import('./start/leave-npm.mjs')
  const { repositoryRoot } = await import('./workspace.mjs')
  const cli = join(repositoryRoot, 'apps/relay/dist/cli.js')
  leaveNpm(repositoryRoot)
  process.argv[1] = cli
  if (process.argv.length === 2) process.argv.push('serve')
  await import(pathToFileURL(cli).href)
}
