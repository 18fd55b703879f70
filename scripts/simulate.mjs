/**
 * `npm run simulate -- ARGUMENTS`: sets up what is missing, then runs the simulation, in this very process. With `mutations` as
 * the first argument it breaks the packages on purpose instead, and tells how many seeds it took to notice; with `scale` it
 * runs a large, steady herd and tells how much it asks over the network.
 */
import './setup/node-version.mjs'

const { setup } = await import('./setup.mjs')
const { compileRelayDatabase } = await import('./setup/relay-database.mjs')

if ((await setup()) && (await compileRelayDatabase())) {
  const { join } = await import('node:path')
  const { pathToFileURL } = await import('node:url')
  const { repositoryRoot } = await import('./workspace.mjs')
  const command = ['mutations', 'scale'].find((each) => each === process.argv[2])
  if (command !== undefined) process.argv.splice(2, 1)
  const program = command === undefined ? 'cli.js' : `${command}-cli.js`
  const cli = join(repositoryRoot, 'packages/simulation/dist', program)
  process.argv[1] = cli
  await import(pathToFileURL(cli).href)
}
