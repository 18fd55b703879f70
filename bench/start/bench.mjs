/**
 * How much later the command starts because `run` stands in front of it: from the start of the process to the first
 * instruction of its child, beside a bare `node -e 0` from its start to its end.
 */
import { join } from 'node:path'
import { distribution, figures, median } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { builtFile, isBuilt } from '../measuring/packages.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { compileStamp, startStamped } from '../measuring/stamp.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'

const options = readOptions(
  `node bench/start/bench.mjs [--rounds 40] [--disk FOLDER] [--json]

--rounds  starts of each, one after the other`,
  { rounds: 40, disk: '', json: false }
)
const CLI = builtFile('apps/srv/dist/cli.js')
if (!isBuilt('apps/srv/dist/cli.js')) {
  process.stderr.write(`${CLI} is missing: build first (npm run build)\n`)
  process.exit(69)
}
const stamp = compileStamp()
if (stamp === undefined) process.exit(69)

const shared = freshFolder(diskParent(options.disk))
const spawnOnly = `require('node:child_process').spawn(${JSON.stringify(stamp)}, { stdio: 'inherit' })`
const run = (uid) => [process.execPath, CLI, 'run', '--shared-dir', join(shared), '--uid', uid, '--', stamp]

const machine = machineLine()
const times = {
  'node -e 0, to its end': [],
  'node that starts the command': [],
  'run, known agent': [],
  'run, new agent': [],
  'run, to its end': []
}
await startStamped(run('known')).ended
for (let round = 0; round < options.rounds; round++) {
  const bare = startStamped([process.execPath, '-e', '0'])
  times['node -e 0, to its end'].push((await bare.ended) - bare.startedMs)
  const plain = startStamped([process.execPath, '-e', spawnOnly])
  times['node that starts the command'].push((await plain.stamped) - plain.startedMs)
  const known = startStamped(run('known'))
  times['run, known agent'].push((await known.stamped) - known.startedMs)
  times['run, to its end'].push((await known.ended) - known.startedMs)
  const fresh = startStamped(run(`new-${round}`))
  times['run, new agent'].push((await fresh.stamped) - fresh.startedMs)
}

const bareMs = median(times['node -e 0, to its end'])
const results = Object.entries(times).map(([name, values]) => ({
  name,
  ...distribution(values),
  moreThanBareMs: median(values) - bareMs
}))
const more = (name) => results.find((result) => result.name === name)?.moreThanBareMs
const targets = [
  target('the command starts later than a bare node ends, known agent', more('run, known agent'), 150, {
    unit: ' ms'
  }),
  target('the same, new agent', more('run, new agent'), 150, { unit: ' ms' })
]
if (options.json) process.stdout.write(`${JSON.stringify({ machine, results, targets }, undefined, 2)}\n`)
else process.stdout.write(`${machine}\n${report()}\n\n${targetLines(targets)}\n`)

function report() {
  return table(
    ['start, ms', 'median', 'p99', 'more than bare'],
    results.map((result) => [
      result.name,
      figures(result.median),
      figures(result.p99),
      figures(result.moreThanBareMs)
    ])
  )
}
