/** `pnpm simulate`: runs one history for each seed and tells what it found. */
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { crew, type Done } from './jobs/crew.js'
import { Teller } from './jobs/told.js'
import { Total } from './jobs/total.js'
import { runHistory } from './run/history-of.js'
import { partsFrom, REPOSITORY } from './run/parts.js'
import { type Plan, planOf } from './run/plan.js'
import { Rejections } from './run/rejections.js'
import { shrink } from './run/shrink.js'
import { storyOf } from './run/story.js'
import { count, shapeOf } from './shape-flags.js'

const USAGE = `usage: simulate [--seeds N] [--first SEED] [--hosts H] [--agents A] [--tier lan|relay|none] [--messages] [--older N] [--situation NAME] [--seconds S] [--jobs N] [--sources DIR] [--plans FILE] [--keep-going] [--story]
  --messages  people and agents leave messages for agents at the relay, which become turns
  --older N   N of the daemons are of a build that came before ours
  --jobs N    in so many processes; as many as there are processors, unless given
example: npm run simulate -- --seeds 200 --hosts 2 --agents 3
         npm run simulate -- --seeds 100 --hosts 2 --messages
         npm run simulate -- --seeds 100 --hosts 3 --older 1`
const USAGE_EXIT = 64
const MOST = Number.MAX_SAFE_INTEGER
const MOST_JOBS = 256
/** Fewer histories than this for each process are not worth its start. */
const LEAST_PER_JOB = 20

const flags = readFlags()
const total = new Total()
const rejections = new Rejections()
rejections.watch()

function readFlags() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '100' },
        first: { type: 'string', default: '1' },
        hosts: { type: 'string', default: '1' },
        agents: { type: 'string', default: '2' },
        seconds: { type: 'string', default: 'Infinity' },
        jobs: { type: 'string' },
        sources: { type: 'string', default: REPOSITORY },
        'keep-going': { type: 'boolean', default: false },
        tier: { type: 'string' },
        messages: { type: 'boolean', default: false },
        older: { type: 'string' },
        situation: { type: 'string' },
        plans: { type: 'string' },
        lines: { type: 'string', default: '60' },
        story: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false }
      }
    }).values
  } catch (fault) {
    console.error(`simulate: ${fault instanceof Error ? fault.message : String(fault)}\n${USAGE}`)
    process.exit(USAGE_EXIT)
  }
}

/** As many as were kept, or one for each seed; none that begins after the time is over. */
function plansOf(kept: readonly Plan[] | undefined): { plans: Generator<Plan>; histories: number } {
  const shape = shapeOf(flags)
  const seeds = count('--seeds', flags.seeds, { least: 1, most: MOST })
  const first = count('--first', flags.first, { least: 0, most: MOST })
  const seconds = Number(flags.seconds)
  if (!(seconds > 0)) throw new RangeError(`--seconds takes a time, not ${JSON.stringify(flags.seconds)}`)
  const histories = kept?.length ?? seeds
  function* plans() {
    for (let index = 0; index < histories && total.elapsedS < seconds; index++)
      yield kept?.[index] ?? planOf(first + index, shape)
  }
  return { plans: plans(), histories }
}

function jobsFor(histories: number): number {
  if (flags.jobs === undefined)
    return Math.max(1, Math.min(availableParallelism(), Math.floor(histories / LEAST_PER_JOB)))
  return Math.max(1, Math.min(count('--jobs', flags.jobs, { least: 1, most: MOST_JOBS }), histories))
}

async function* here(plans: Iterator<Plan>): AsyncGenerator<Done> {
  const teller = new Teller({ parts: await partsFrom(flags.sources), rejections, story: flags.story })
  for (let next = plans.next(); next.done !== true; next = plans.next())
    yield { plan: next.value, told: await teller.tell(next.value) }
}

async function tellLeast({ plan, told }: Done): Promise<void> {
  if (told.violation === undefined) return
  const parts = await partsFrom(flags.sources)
  const least = shrink(plan, told.violation, (each) => runHistory(each, parts))
  console.log(storyOf(least.outcome, Number(flags.lines), least.plan))
}

/** Whether something is wrong with it. */
function print({ plan: { seed }, told }: Done): boolean {
  const { violation, crash, digest, story } = told
  if (story !== undefined) console.log(story)
  if (flags.json) console.log(JSON.stringify({ seed, digest, violation: violation ?? null }))
  if (crash !== undefined) console.log(`seed ${seed}: nobody caught ${crash}`)
  if (violation === undefined && crash === undefined) return false
  console.log(`seed ${seed}: ${violation?.rule ?? 'crash'}: ${violation?.what ?? 'an unhandled rejection'}`)
  return true
}

/** The same history, told. */
function again(seed: number): string {
  const { hosts, agents, tier, older, situation } = flags
  const more = Object.entries({ tier, older, situation })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` --${name} ${value}`)
  if (flags.messages) more.push(' --messages')
  return `again: npm run simulate -- --first ${seed} --seeds 1 --hosts ${hosts} --agents ${agents}${more.join('')} --story`
}

async function main(): Promise<number> {
  if (flags.help) {
    console.log(USAGE)
    return 0
  }
  const kept =
    flags.plans === undefined ? undefined : (JSON.parse(readFileSync(flags.plans, 'utf8')) as Plan[])
  const { plans, histories } = plansOf(kept)
  const jobs = jobsFor(histories)
  const { sources, story } = flags
  for await (const done of jobs === 1 ? here(plans) : crew(plans, { jobs, sources, story })) {
    total.add(done.told)
    const wrong = print(done)
    if (wrong) total.violations++
    if (wrong && !flags['keep-going']) {
      await tellLeast(done)
      console.log(again(done.plan.seed))
      break
    }
    total.show()
  }
  total.endShow()
  console.log(total.summary)
  return total.violations === 0 ? 0 : 1
}

/** What was typed is at fault, and nothing else: without a stack. */
function sayUsage(fault: unknown): number {
  if (!(fault instanceof RangeError)) throw fault
  console.error(`simulate: ${fault.message}\n${USAGE}`)
  return USAGE_EXIT
}

process.exitCode = await main().catch(sayUsage)
