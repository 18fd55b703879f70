/**
 * `pnpm stress`: sixteen processes for a minute, stopped, killed and with wall clocks that jump, beside older builds that
 * wait for the lock in the kernel. What they wrote down is then checked (history.mjs). Exits 1 if anything was wrong.
 */
import { tmpdir } from 'node:os'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { freshFolder } from '../measuring/places.mjs'
import { violationsIn } from './history.mjs'
import { runStress } from './run-stress.mjs'
import { summaryOf } from './summary.mjs'

const options = readOptions(
  `pnpm stress [--processes 16] [--seconds 60] [--seed N] [--folder DIR] [--json]

--seed    of all chances: the same one makes the same choices, though not the same timing (default: from the clock)
--folder  where the leases lie (default: the folder for temporary files)`,
  { processes: 16, seconds: 60, seed: Date.now() % 1_000_000, folder: tmpdir(), json: false }
)
for (const name of ['processes', 'seconds', 'seed']) {
  if (!Number.isFinite(options[name]) || options[name] < 0) {
    process.stderr.write(`--${name} must be a number\n`)
    process.exit(64)
  }
}

const machine = machineLine()
const { processes, seconds, seed } = options
const { events, tally } = await runStress({ folder: freshFolder(options.folder), processes, seconds, seed })
const violations = violationsIn(events)
const summary = { ...summaryOf(events), ...tally, violations: violations.length, seed }
if (options.json) process.stdout.write(`${JSON.stringify({ machine, ...summary, found: violations })}\n`)
else {
  process.stdout.write(`${machine}\n${processes} processes, ${seconds} s\n`)
  for (const [name, value] of Object.entries(summary)) process.stdout.write(`${name.padEnd(24)} ${value}\n`)
  for (const text of violations) process.stdout.write(`VIOLATION ${text}\n`)
}
process.exit(violations.length === 0 ? 0 : 1)
