/** What it costs one process to hold a thousand and ten thousand leases: processor, and how late the event loop runs. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { figures } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'

const options = readOptions(
  `node bench/holding/bench.mjs [--counts 1000,10000] [--warm 6] [--seconds 30] [--disk FOLDER] [--json]

--counts   how many leases to hold, one process after the other
--warm     seconds between the last claim and the measurement
--seconds  how long to measure`,
  { counts: '1000,10000', warm: 6, seconds: 30, disk: '', json: false }
)
const HOLDER = fileURLToPath(new URL('holder.mjs', import.meta.url))

const machine = machineLine()
const results = []
for (const count of options.counts.split(',').map(Number)) {
  const args = [HOLDER, freshFolder(diskParent(options.disk)), count, options.warm, options.seconds].map(
    String
  )
  const run = spawnSync(process.execPath, [...process.execArgv, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit']
  })
  if (run.status !== 0) throw new Error(`the holder of ${count} leases ended with ${run.status}`)
  results.push(JSON.parse(run.stdout))
}
const targets = results.filter(({ count }) => count >= 10_000).flatMap(targetsOf)
if (options.json) process.stdout.write(`${JSON.stringify({ machine, results, targets }, undefined, 2)}\n`)
else process.stdout.write(`${machine}\n${report()}\n\n${targetLines(targets)}\n`)

function report() {
  const rows = results.flatMap((result) => [
    row(`${result.count}, spread`, result.spread, [
      result.oldestMs,
      result.late,
      `${result.losses}, ${result.faults}`,
      (result.claimedMs / result.count).toFixed(2)
    ]),
    row(`${result.count}, all at once`, result.together, ['', '', '', ''])
  ])
  const header = ['leases', 'CPU, % of a core', 'loop busy, %', 'delay p99, ms', 'max', 'oldest renewal, ms']
  return table([...header, 'late', 'losses, faults', 'ms per claim'], rows)
}

function row(name, { cpuShare, utilization, delayP99Ms, delayMaxMs }, rest) {
  const percent = (share) => (share * 100).toFixed(1)
  return [name, percent(cpuShare), percent(utilization), figures(delayP99Ms), figures(delayMaxMs), ...rest]
}

function targetsOf({ count, spread, late, losses }) {
  return [
    target(`${count} leases, share of a core`, spread.cpuShare * 100, 25, { unit: ' %' }),
    target(`${count} leases, longest delay of the loop`, spread.delayMaxMs, 50, { unit: ' ms' }),
    target(`${count} leases, late or lost`, late + losses, 0)
  ]
}
