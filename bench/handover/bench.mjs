/**
 * How long a hand-over takes: from the moment at which the holder begins to release, to the first instruction of the
 * command that a waiting process then starts. The lease-store alone, and `run --wait`, beside flock(1), which waits in the
 * kernel, and beside a process that claims every 250 ms. They take turns.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { distribution, figures } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { builtFile, isBuilt, loadPackage } from '../measuring/packages.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { compileStamp, monotonicMs, startStamped } from '../measuring/stamp.mjs'
import { table } from '../measuring/table.mjs'

const options = readOptions(
  `node bench/handover/bench.mjs [--rounds 40] [--disk FOLDER] [--json]

--rounds   releases that are waited for, of each peer`,
  { rounds: 40, disk: '', json: false }
)
const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const CLI = builtFile('apps/srv/dist/cli.js')
if (!isBuilt('apps/srv/dist/cli.js')) {
  process.stderr.write(`${CLI} is missing: build first (npm run build)\n`)
  process.exit(69)
}
const { LeaseStore } = await loadPackage('lease-store')
const { flockSync } = createRequire(builtFile('packages/lease-store/dist/index.js'))('fs-ext')
const stamp = compileStamp()
if (stamp === undefined) process.exit(69)

const machine = machineLine()
const shared = freshFolder(diskParent(options.disk))
const root = join(shared, 'agents', 'registry')
const store = LeaseStore.open(root)

/** How the bench holds, how a process waits for it, and how one knows that it does. */
const PEERS = [
  {
    name: 'lease-store',
    hold: holdLease,
    command: (uid) => [process.execPath, here('waiter.mjs'), root, uid, stamp],
    waits: watches
  },
  {
    name: 'run --wait',
    hold: holdLease,
    command: (uid) => [
      process.execPath,
      CLI,
      'run',
      '--shared-dir',
      shared,
      '--uid',
      uid,
      '--wait',
      '--',
      stamp
    ],
    waits: watches
  },
  {
    name: 'flock(1)',
    hold: holdFlock,
    command: (uid) => ['flock', lockOf(uid), stamp],
    waits: () => sleep(50)
  },
  {
    name: 'claim every 250 ms',
    hold: holdLease,
    command: (uid) => [process.execPath, here('../waiting/poller.mjs'), root, uid, stamp],
    waits: () => sleep(500)
  }
]

const tookMs = PEERS.map(() => [])
for (let round = 0; round < options.rounds; round++) {
  for (let turn = 0; turn < PEERS.length; turn++) {
    const index = (round + turn) % PEERS.length
    tookMs[index].push(await handOver(PEERS[index], `key-${index}`))
  }
}
const results = PEERS.map(({ name }, index) => ({ name, ...distribution(tookMs[index]) }))
if (options.json) process.stdout.write(`${JSON.stringify({ machine, results }, undefined, 2)}\n`)
else process.stdout.write(`${machine}\n${report()}\n`)
process.exit(0)

async function handOver({ hold, command, waits }, uid) {
  const release = await hold(uid)
  const waiter = startStamped(command(uid))
  await waits(waiter.pid)
  // Anywhere between two looks of whoever looks now and then.
  await sleep(100 + Math.random() * 250)
  const releasingMs = monotonicMs()
  await release()
  const startedMs = await waiter.stamped
  await waiter.ended
  return startedMs - releasingMs
}

async function holdLease(uid) {
  const result = await store.claim({ agent: { uid }, blockId: 'bench' })
  if (result.kind !== 'granted') throw new Error(JSON.stringify(result))
  return () => store.release(result.lease)
}

async function holdFlock(uid) {
  const descriptor = openSync(lockOf(uid), 'a')
  flockSync(descriptor, 'ex')
  return async () => closeSync(descriptor)
}

function lockOf(uid) {
  return join(shared, `${uid}.flock`)
}

/** Resolves once a process watches a file. */
async function watches(pid) {
  for (let tries = 0; tries < 3_000; tries++) {
    if (readdirSync(`/proc/${pid}/fdinfo`).some((fd) => isWatch(`/proc/${pid}/fdinfo/${fd}`))) return
    await sleep(10)
  }
  throw new Error('the waiter never watched the lease file')
}

function isWatch(path) {
  try {
    return readFileSync(path, 'latin1').includes('inotify wd:')
  } catch {
    return false
  }
}

function report() {
  const of = (name) => results.find((result) => result.name === name)
  const [flock, poller] = [of('flock(1)'), of('claim every 250 ms')]
  const ratio = (mine, theirs) => figures(mine / theirs)
  const rows = results.map((result) => [
    result.name,
    figures(result.median),
    figures(result.p99),
    ratio(result.median, flock.median),
    ratio(result.p99, flock.p99),
    ratio(result.median, poller.median),
    ratio(result.p99, poller.p99)
  ])
  const header = [
    'release to start, ms',
    'median',
    'p99',
    'x flock',
    'p99 x flock',
    'x poller',
    'p99 x poller'
  ]
  return table(header, rows)
}
