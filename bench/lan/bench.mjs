/**
 * Figures of the LAN: `node bench/lan/bench.mjs [discovery-time] [idle-packets] [fuzz] [starts]`, all by default. They run
 * in virtual networks (root, Linux, iproute2) and need the built packages. idle-packets takes ten minutes, or as many as
 * `--minutes N` says; fuzz takes 100,000 datagrams of each kind, or as many as `--count N` says; starts takes ten minutes,
 * less with `--hosts 2`, 3, 5 or 8.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { repositoryRoot } from '../../scripts/workspace.mjs'

const LAN_TIER = 'packages/lan-tier'
const RUNS = {
  'discovery-time': { of: LAN_TIER, file: 'test/figures/discovery-time.figures.ts', figures: '1' },
  'idle-packets': { of: LAN_TIER, file: 'test/figures/idle-packets.figures.ts', figures: '1' },
  fuzz: { of: LAN_TIER, file: 'test/discovery-fuzz.test.ts', figures: '' },
  starts: { of: 'apps/srv', file: 'test/figures/simultaneous-starts.figures.ts', figures: '1' }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    count: { type: 'string', default: '100000' },
    hosts: { type: 'string', default: '0' },
    help: { type: 'boolean', short: 'h' }
  }
})
const unknown = positionals.filter((name) => !(name in RUNS))
if (values.help || unknown.length > 0) {
  const usage = `usage: node bench/lan/bench.mjs [${Object.keys(RUNS).join('] [')}] [--minutes N] [--count N] [--hosts N]\n`
  process.stderr.write(unknown.length > 0 ? `not known: ${unknown.join(' ')}\n${usage}` : usage)
  process.exit(values.help ? 0 : 64)
}
for (const [name, { of, file, figures }] of Object.entries(RUNS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const env = {
    ...process.env,
    AGENTMUX_FIGURES: figures,
    AGENTMUX_FIGURES_MINUTES: values.minutes,
    AGENTMUX_FIGURES_HOSTS: values.hosts,
    AGENTMUX_FUZZ_COUNT: values.count
  }
  const vitest = join(repositoryRoot, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', file, '--testTimeout=1200000', '--disableConsoleIntercept']
  const { status } = spawnSync(process.execPath, args, {
    cwd: join(repositoryRoot, of),
    env,
    stdio: 'inherit'
  })
  process.exitCode ||= status ?? 1
}
