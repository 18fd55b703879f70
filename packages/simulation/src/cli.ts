/** `pnpm simulate`: runs one history for each seed and tells what it found. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SandboxPool } from './kernel/sandbox.js'
import { Killed } from './kernel/thread.js'
import { bundlePrograms } from './run/bundles.js'
import { runHistory } from './run/history-of.js'
import { type Plan, planOf, type Tier } from './run/plan.js'
import { shrink } from './run/shrink.js'
import { storyOf } from './run/story.js'

const REPOSITORY = join(dirname(fileURLToPath(import.meta.url)), '../../..')
const USAGE = `usage: simulate [--seeds N] [--first SEED] [--hosts H] [--agents A] [--tier lan|relay|none] [--seconds S] [--sources DIR] [--plans FILE] [--keep-going] [--story]
example: npm run simulate -- --seeds 200 --hosts 2 --agents 3`

const { values: flags } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    first: { type: 'string', default: '1' },
    hosts: { type: 'string', default: '1' },
    agents: { type: 'string', default: '2' },
    seconds: { type: 'string', default: 'Infinity' },
    sources: { type: 'string', default: REPOSITORY },
    'keep-going': { type: 'boolean', default: false },
    tier: { type: 'string' },
    plans: { type: 'string' },
    lines: { type: 'string', default: '60' },
    story: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false }
  }
})

// What a dead process was about to do ends in this; everything else that nobody catches is a crash of what runs.
const rejections: unknown[] = []
process.on('unhandledRejection', (reason) => {
  if (!(reason instanceof Killed)) rejections.push(reason)
})

async function main(): Promise<number> {
  if (flags.help) {
    console.log(USAGE)
    return 0
  }
  const [seeds, first, hosts, agents, seconds] = [
    flags.seeds,
    flags.first,
    flags.hosts,
    flags.agents,
    flags.seconds
  ].map(Number) as [number, number, number, number, number]
  const parts = {
    bundles: await bundlePrograms({ sources: flags.sources, repository: REPOSITORY }),
    pool: new SandboxPool(),
    relayPackage: join(REPOSITORY, 'apps/relay/package.json')
  }
  const startedMs = performance.now()
  const total = { seeds: 0, events: 0, virtualMs: 0, violations: 0 }
  const elapsed = () => (performance.now() - startedMs) / 1_000
  const summary = () =>
    `${total.seeds} seeds, ${total.events} events, ${(total.virtualMs / 86_400_000).toFixed(2)} virtual days, ` +
    `${total.violations} violations, ${Math.round(total.events / elapsed())} events/s, ${Math.round(elapsed())} s`
  let shownMs = startedMs
  const kept =
    flags.plans === undefined ? undefined : (JSON.parse(readFileSync(flags.plans, 'utf8')) as Plan[])
  const count = kept?.length ?? seeds
  for (let index = 0; index < count && elapsed() < seconds; index++) {
    const plan = kept?.[index] ?? planOf(first + index, { hosts, agents, ...tierOf(flags.tier) })
    const { seed } = plan
    const outcome = runHistory(plan, parts)
    await new Promise((resolve) => setImmediate(resolve))
    total.seeds++
    total.events += outcome.events
    total.virtualMs += outcome.virtualMs
    if (flags.story) console.log(storyOf(outcome, Number.POSITIVE_INFINITY))
    if (flags.json)
      console.log(JSON.stringify({ seed, digest: outcome.digest, violation: outcome.violation ?? null }))
    const unhandled = rejections.splice(0)
    if (unhandled.length > 0)
      console.log(`seed ${seed}: nobody caught ${String((unhandled[0] as Error)?.stack ?? unhandled[0])}`)
    if (outcome.violation !== undefined || unhandled.length > 0) {
      total.violations++
      console.log(
        `seed ${seed}: ${outcome.violation?.rule ?? 'crash'}: ${outcome.violation?.what ?? 'an unhandled rejection'}`
      )
      if (!flags['keep-going']) {
        if (outcome.violation !== undefined) {
          const least = shrink(plan, outcome.violation, (each) => runHistory(each, parts))
          console.log(storyOf(least.outcome, Number(flags.lines), least.plan))
        }
        console.log(
          `again: npm run simulate -- --first ${seed} --seeds 1 --hosts ${hosts} --agents ${agents} --story`
        )
        console.log(summary())
        return 1
      }
    }
    if (process.stderr.isTTY || performance.now() - shownMs > 10_000) {
      if (performance.now() - shownMs > 500) {
        shownMs = performance.now()
        process.stderr.write(process.stderr.isTTY ? `\r${summary()} ` : `${summary()}\n`)
      }
    }
  }
  if (process.stderr.isTTY) process.stderr.write('\n')
  console.log(summary())
  return total.violations === 0 ? 0 : 1
}

function tierOf(text: string | undefined): { tier?: Tier } {
  return text === 'lan' || text === 'relay' || text === 'none' ? { tier: text } : {}
}

process.exitCode = await main()
