/**
 * The daemon under load: what a turn takes from the request to the answer, what the fence has to do with it, what the
 * daemon uses, and how long the check before a spawn takes.
 */
import { fileURLToPath } from 'node:url'
import { compileC } from '../measuring/compile-c.mjs'
import { figures } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'
import { earlyTimes } from './early-times.mjs'
import { fenceHolder } from './fence-times.mjs'
import { underLoad } from './under-load.mjs'

const options = readOptions(
  `node bench/daemon/bench.mjs [--panes 200] [--rate 2000] [--seconds 60] [--warm 5] [--agents silent,answering]
                           [--checks 2000] [--profile FOLDER] [--disk FOLDER] [--json]

--panes    live panes, each with a small C program as its agent
--rate     turns per second, over all panes
--seconds  how long to measure, for each kind of agent
--warm     seconds before that, at the same rate
--agents   silent: reads its turns; answering: writes a line for each as well
--checks   calls of checkBeforeSpawn
--profile  the daemon leaves its CPU profiles there`,
  {
    panes: 200,
    rate: 2_000,
    seconds: 60,
    warm: 5,
    agents: 'silent,answering',
    checks: 2_000,
    profile: '',
    disk: '',
    json: false
  }
)
const FENCE_ALONE_SECONDS = 10

const program = compileC(fileURLToPath(new URL('agent.c', import.meta.url)))
if (program === undefined) process.exit(69)
const disk = diskParent(options.disk)
const { panes, rate, seconds, warm, checks } = options
const nodeArguments =
  options.profile === '' ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profile}`, '--cpu-prof-interval=500']

const machine = machineLine()
const early = {
  'no peers': earlyTimes(freshFolder(disk), { calls: checks }),
  [`no peers, ${panes} agents here`]: earlyTimes(freshFolder(disk), { calls: checks, ownPanes: panes })
}
const fenceAlone = await fenceTimesAlone()
const loads = {}
for (const kind of options.agents.split(',')) {
  const shared = freshFolder(disk)
  loads[kind] = await underLoad(shared, {
    panes,
    rate,
    seconds,
    warm,
    nodeArguments,
    command: kind === 'answering' ? [program, kind] : [program],
    whenOpen: () => {
      early[`one peer with ${panes} agents`] ??= earlyTimes(shared, { calls: Math.ceil(checks / 10) })
    }
  })
}
const targets = targetsOf()
if (options.json) {
  process.stdout.write(`${JSON.stringify({ machine, early, fenceAlone, loads, targets }, undefined, 2)}\n`)
} else process.stdout.write(`${machine}\n\n${report()}\n\n${targetLines(targets)}\n`)

async function fenceTimesAlone() {
  const holder = await fenceHolder(freshFolder(disk), { leases: panes, seconds: FENCE_ALONE_SECONDS })
  holder.start()
  const times = await holder.times
  holder.end()
  return times
}

function report() {
  const kinds = Object.entries(loads)
  const turns = table(
    [
      `${panes} panes, ${rate}/s, ${seconds} s`,
      'turn p50, ms',
      'p99',
      'max',
      'sent late p99',
      'per second',
      'not sent',
      'answers, recorded'
    ],
    kinds.map(([kind, { turnMs, sentLateMs, perSecond, unsent, answers, recorded }]) => [
      `${kind} agents`,
      figures(turnMs.median),
      figures(turnMs.p99),
      figures(turnMs.max),
      figures(sentLateMs.p99),
      perSecond.toFixed(0),
      unsent,
      `${answers['200'] ?? 0}, ${recorded}`
    ])
  )
  const cores = table(
    ['cores used by', 'daemon', 'agents', 'sender', 'fence holder', 'others'],
    kinds.map(([kind, { cores: used }]) => [
      `${kind} agents`,
      ...['daemon', 'agents', 'sender', 'fence', 'others'].map((name) => used[name].toFixed(2))
    ])
  )
  const daemon = table(
    ['the daemon', 'RSS opened, MiB', 'at the start', 'at the end', 'descriptors', 'at the end'],
    kinds.map(
      ([
        kind,
        {
          daemonAt: { opening, start, end }
        }
      ]) => [
        `${kind} agents`,
        ...[opening, start, end].map(({ residentMiB }) => residentMiB.toFixed(0)),
        opening.descriptors,
        end.descriptors
      ]
    )
  )
  const fenceRows = [['alone', fenceAlone], ...kinds.map(([kind, { fence }]) => [`${kind} agents`, fence])]
  const fence = table(
    ['the fence, µs', 'check', 'p99', 'verify', 'p99', 'append', 'p99'],
    fenceRows.map(([name, times]) => [
      name,
      ...['check', 'verify', 'append'].flatMap((call) => [
        figures(times[call].median),
        figures(times[call].p99)
      ])
    ])
  )
  const spawnChecks = table(
    ['checkBeforeSpawn, ms', 'p50', 'p99', 'max', 'calls'],
    Object.entries(early).map(([name, { median, p99, max, count }]) => [
      name,
      figures(median),
      figures(p99),
      figures(max),
      count
    ])
  )
  return [turns, cores, daemon, fence, spawnChecks].join('\n\n')
}

function targetsOf() {
  const ofLoads = Object.entries(loads).flatMap(([kind, { perSecond, unsent, answers, recorded }]) => [
    target(`${kind} agents, turns answered per second`, perSecond, rate * 0.99, { atLeast: true }),
    target(
      `${kind} agents, turns not sent or not recorded`,
      unsent + Math.abs(recorded - (answers['200'] ?? 0)),
      0
    )
  ])
  return [
    ...ofLoads,
    target('checkBeforeSpawn with no peers, p50', early['no peers'].median, 1, { unit: ' ms' })
  ]
}
