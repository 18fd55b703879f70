/**
 * `npm run simulate -- ARGUMENTS`: sets up what is missing, then runs the simulation, in this very process. With `mutations` as
 * the first argument it breaks the packages on purpose instead, and tells how many seeds it took to notice.
 */
import './setup/node-version.mjs'

const { setup } = await import('./setup.mjs')
const { compileRelayDatabase } = await import('./setup/relay-database.mjs')

if ((await setup()) && (await compileRelayDatabase())) {
  const { join } = await import('node:path')
  const { pathToFileURL } = await import('node:url')
  const { repositoryRoot } = await import('./workspace.mjs')
  const breaks = process.argv[2] === 'mutations'
  if (breaks) process.argv.splice(2, 1)
  const cli = join(repositoryRoot, 'packages/simulation/dist', breaks ? 'mutations-cli.js' : 'cli.js')
  process.argv[1] = cli
  await import(pathToFileURL(cli).href)
}
