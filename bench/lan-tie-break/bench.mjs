/**
 * Simulated tie-breaks with a fifth of all answers lost: how often nobody is left, and how often two are. Prints PASS or
 * MISS for the one target: with our builds alone an agent never ends up driven by nobody.
 */
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { loadPackage } from '../measuring/packages.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'
import { simulateRounds } from './simulation.mjs'

const USAGE = `node bench/lan-tie-break/bench.mjs [--rounds 100000] [--seed 1] [--loss 0.2] [--json]
Simulated rounds of the tie-break between computers: 2, 3, 5 and 8 hosts, ours alone and mixed.`

const options = readOptions(USAGE, { rounds: 100_000, seed: 1, loss: 0.2, json: false })
const rules = await loadPackage('lan-tier')
/** Against older builds, and without each of the two safeguards, a tenth of the rounds shows enough. */
const FEWER = 10

const scenarios = []
for (const hosts of [2, 3, 5, 8]) {
  scenarios.push({ what: 'ours alone', hosts, rounds: options.rounds })
  scenarios.push({ what: 'ours, flag not sent', hosts, rule: 'no flag', rounds: options.rounds / FEWER })
  scenarios.push({ what: 'no second look', hosts, rule: 'no second look', rounds: options.rounds / FEWER })
  scenarios.push({ what: '1 older', hosts, older: 1, rounds: options.rounds / FEWER })
  if (hosts > 3) {
    scenarios.push({
      what: 'half older',
      hosts,
      older: Math.floor(hosts / 2),
      rounds: options.rounds / FEWER
    })
  }
  scenarios.push({ what: 'all older', hosts, older: hosts, rounds: options.rounds / FEWER })
}

const results = scenarios.map(({ what, ...scenario }) => ({
  what,
  ...scenario,
  ...simulateRounds(rules, { ...scenario, loss: options.loss, seed: options.seed })
}))
const targets = results
  .filter(({ what }) => what === 'ours alone')
  .map(({ hosts, nobody }) => target(`rounds in which nobody was left, ${hosts} hosts`, nobody.at(-1), 0))

if (options.json) {
  process.stdout.write(`${JSON.stringify({ results, targets })}\n`)
} else {
  const share = (count, rounds) => (count === 0 ? '0' : `${((100 * count) / rounds).toFixed(3)} %`)
  const rows = results.map(({ what, hosts, rounds, nobody, several }) => [
    what,
    hosts,
    rounds,
    share(nobody.at(-1), rounds),
    ...several.map((count) => share(count, rounds))
  ])
  const header = [
    'who',
    'hosts',
    'rounds',
    'nobody left',
    'two or more after 1',
    'after 2',
    'after 3 re-checks'
  ]
  process.stdout.write(`${machineLine()}\n${100 * options.loss} % of answers lost, seed ${options.seed}\n\n`)
  process.stdout.write(`${table(header, rows)}\n\n${targetLines(targets)}\n`)
}
