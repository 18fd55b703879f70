/**
 * Processes that claim and release one key as fast as they can, on a disk, alone and beside older builds, which wait
 * for the lock inside the kernel. What their holders append is audited afterwards.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { compileC } from '../measuring/compile-c.mjs'
import { distribution, quantile } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'
import { auditTurns } from './audit.mjs'

const options = readOptions(
  `node bench/contention/bench.mjs [--seconds 10] [--processes 8] [--older 4] [--only NAME] [--disk FOLDER] [--json]

--seconds    how long each scenario runs
--processes  how many of ours contend
--older      how many older builds stand beside them
--only       some scenarios, separated by commas: alone, looking, storming, claiming, eager, c-eight`,
  { seconds: 10, processes: 8, older: 4, only: '', disk: '', json: false }
)

const CLAIMER = fileURLToPath(new URL('claimer.mjs', import.meta.url))
const UID = 'contended'
const CEILING_SECONDS = 1

/** `older`: what each older build does, and for how many microseconds it pauses in between. */
const SCENARIOS = [
  { name: 'alone', says: 'ours alone, woken by the release' },
  { name: 'looking', says: 'beside older builds that lock and read every 10 ms', older: ['look', 10_000] },
  { name: 'storming', says: 'beside older builds that lock and read without a pause', older: ['look', 0] },
  {
    name: 'claiming',
    says: 'beside older builds that claim and release every 10 ms',
    older: ['claim', 10_000]
  },
  { name: 'eager', says: 'ours alone, claiming again at once when refused', retry: 'eager' },
  {
    name: 'c-eight',
    says: 'as many C programs, claiming again at once, in line inside the kernel',
    ours: 0,
    older: ['claim', 0]
  }
]

const program = compileC(fileURLToPath(new URL('../lease-store/peer.c', import.meta.url)))
const machine = machineLine()
const results = []
for (const scenario of SCENARIOS) {
  if (options.only !== '' && !options.only.split(',').includes(scenario.name)) continue
  if (scenario.older !== undefined && program === undefined) continue
  const before = await ceiling()
  const result = await contend(scenario)
  results.push({ ...result, ceiling: [before, await ceiling()] })
}
const targets = results.filter(({ name }) => ['alone', 'looking'].includes(name)).flatMap(targetsOf)
if (options.json) process.stdout.write(`${JSON.stringify({ machine, results, targets }, undefined, 2)}\n`)
else process.stdout.write(`${machine}\n${report()}\n\n${targetLines(targets)}\n`)

async function contend(scenario) {
  const root = freshFolder(diskParent(options.disk))
  const audit = join(root, 'audit')
  await makeKey(root, audit)
  const count = scenario.ours ?? options.processes
  const ours = Array.from({ length: count }, () => startOurs(root, audit, scenario.retry ?? 'woken'))
  await Promise.all(ours.map(({ ready }) => ready))
  const olderCount = scenario.older === undefined ? 0 : count === 0 ? options.processes : options.older
  const older = Array.from({ length: olderCount }, () => startOlder(root, audit, scenario.older))
  for (const { go } of ours) go()
  const answers = await Promise.all(ours.map(({ answer }) => answer))
  const olderAnswers = await Promise.all(older)
  const { turns, highest, problems } = auditTurns(audit)
  const waits = distribution(answers.flatMap(({ waitsMs }) => waitsMs))
  const sum = (name) => answers.reduce((total, { tally }) => total + tally[name], 0)
  const granted = sum('granted')
  return {
    name: scenario.name,
    says: scenario.says,
    claimsPerSecond: granted / options.seconds,
    refusedPerClaim: sum('refused') / granted,
    waits,
    wait95: quantile(
      answers.flatMap(({ waitsMs }) => waitsMs),
      0.95
    ),
    fewest: Math.min(...answers.map(({ tally }) => tally.granted)),
    most: Math.max(...answers.map(({ tally }) => tally.granted)),
    cpuShare: answers.reduce((total, { cpu }) => total + cpu.user + cpu.system, 0) / (options.seconds * 1e6),
    meanMs: {
      claim: sum('claimMs') / granted,
      release: sum('releaseMs') / granted,
      refused: sum('refusedMs') / sum('refused')
    },
    older: olderAnswers,
    turns,
    highest,
    problems
  }
}

/** What the disk allows right now: claims and releases per second of one C program, which nobody contends with. */
async function ceiling() {
  if (program === undefined) return Number.NaN
  const root = freshFolder(diskParent(options.disk))
  mkdirSync(join(root, 'leases'))
  const { claims } = await startOlder(root, join(root, 'audit'), ['claim', 0], CEILING_SECONDS)
  return claims / CEILING_SECONDS
}

/** The key exists before the clock starts: its first claim makes two files and is not what is measured. */
async function makeKey(root, audit) {
  const first = startOurs(root, audit, 'woken', 0.01)
  await first.ready
  first.go()
  await first.answer
}

function startOurs(root, audit, retry, seconds = options.seconds) {
  const child = spawn(
    process.execPath,
    [...process.execArgv, CLAIMER, root, UID, audit, String(seconds), retry],
    {
      stdio: ['pipe', 'pipe', 'inherit']
    }
  )
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ready = lines.next()
  const answer = ready.then(() => lines.next()).then(({ value }) => JSON.parse(value))
  return { ready, answer, go: () => child.stdin.write('go\n') }
}

/** An older build: the C program, in line for the lock inside the kernel. */
async function startOlder(root, audit, [what, pauseUs], seconds = options.seconds) {
  const args = [join(root, 'leases'), 'contend', UID, audit, what, String(seconds), String(pauseUs)]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  const [tries, claims, longestWaitUs] = output.split(' ').map(Number)
  return { tries, claims, longestWaitMs: longestWaitUs / 1_000 }
}

function report() {
  const rows = results.map((result) => {
    const olderSum = (name) => result.older.reduce((total, each) => total + each[name], 0) / options.seconds
    return [
      result.name,
      result.claimsPerSecond.toFixed(0),
      result.ceiling.map((perSecond) => perSecond.toFixed(0)).join(', '),
      ...[result.waits.median, result.waits.p99, result.waits.max].map((ms) =>
        ms >= 0 ? ms.toFixed(1) : '–'
      ),
      `${result.fewest}–${result.most}`.replace(/.*Infinity.*/, '–'),
      (result.refusedPerClaim || 0).toFixed(1),
      result.cpuShare.toFixed(2),
      result.older.length === 0 ? '–' : `${olderSum('tries').toFixed(0)}, ${olderSum('claims').toFixed(0)}`,
      result.older.length === 0
        ? '–'
        : Math.max(...result.older.map((each) => each.longestWaitMs)).toFixed(0),
      result.turns,
      result.problems.length === 0 ? 'clean' : `${result.problems.length} problems`
    ]
  })
  const header = [
    'scenario',
    'claims/s',
    'disk allows',
    'wait ms',
    'p99',
    'longest',
    'claims each',
    'refused/claim',
    'cores',
    'older: tries, claims/s',
    'longest lock wait',
    'turns',
    'audit'
  ]
  const legend = results.map(({ name, says, problems }) =>
    [`  ${name}: ${says}`, ...problems.slice(0, 5).map((problem) => `    ${problem}`)].join('\n')
  )
  return `${table(header, rows)}\n${legend.join('\n')}`
}

function targetsOf({ name, claimsPerSecond, waits, problems }) {
  return [
    target(`${name}, problems in the audit`, problems.length, 0),
    target(`${name}, claims per second`, claimsPerSecond, 600, { atLeast: true }),
    target(`${name}, longest wait`, waits.max, 500, { unit: ' ms' })
  ]
}
