/**
 * Figures of the LAN tier: `node bench/lan/bench.mjs [discovery-time] [idle-packets] [fuzz]`, all three by default. They run
 * in virtual networks (root, Linux, iproute2) and need the built packages. idle-packets takes ten minutes, or as many as
 * `--minutes N` says; fuzz takes 100,000 datagrams of each kind, or as many as `--count N` says.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { repositoryRoot } from '../../scripts/workspace.mjs'

const RUNS = {
  'discovery-time': { file: 'test/figures/discovery-time.figures.ts', figures: '1' },
  'idle-packets': { file: 'test/figures/idle-packets.figures.ts', figures: '1' },
  fuzz: { file: 'test/discovery-fuzz.test.ts', figures: '' }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    count: { type: 'string', default: '100000' },
    help: { type: 'boolean', short: 'h' }
  }
})
const unknown = positionals.filter((name) => !(name in RUNS))
if (values.help || unknown.length > 0) {
  const usage = `usage: node bench/lan/bench.mjs [${Object.keys(RUNS).join('] [')}] [--minutes N] [--count N]\n`
  process.stderr.write(unknown.length > 0 ? `not known: ${unknown.join(' ')}\n${usage}` : usage)
  process.exit(values.help ? 0 : 64)
}
const cwd = join(repositoryRoot, 'packages/lan-tier')
for (const [name, { file, figures }] of Object.entries(RUNS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const env = {
    ...process.env,
    AGENTMUX_FIGURES: figures,
    AGENTMUX_FIGURES_MINUTES: values.minutes,
    AGENTMUX_FUZZ_COUNT: values.count
  }
  const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', file, '--testTimeout=1200000', '--disableConsoleIntercept']
  const { status } = spawnSync(process.execPath, args, { cwd, env, stdio: 'inherit' })
  process.exitCode ||= status ?? 1
}
