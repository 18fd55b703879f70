/**
 * `run --wait` while another process holds the agent: how often it wakes while nothing happens, and how soon after the
 * release its command runs. Beside flock(1), which waits in the kernel, and a claim every 250 ms.
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
import { target, targetLines } from '../measuring/targets.mjs'

const options = readOptions(
  `node bench/waiting/bench.mjs [--rounds 30] [--seconds 10] [--disk FOLDER] [--json]

--rounds   releases that are waited for, of each peer
--seconds  how long the idle wait is watched`,
  { rounds: 30, seconds: 10, disk: '', json: false }
)
const CLI = builtFile('apps/srv/dist/cli.js')
const POLLER = fileURLToPath(new URL('poller.mjs', import.meta.url))
/** After its start a process still compiles and collects garbage: that is not the wait. */
const SETTLE_MS = 2_000
/** The holder renews as it always does: it wakes a waiter that watches the file. */
const RENEW_MS = 5_000

if (!isBuilt('apps/srv/dist/cli.js')) {
  process.stderr.write(`${CLI} is missing: build first (npm run build)\n`)
  process.exit(69)
}
const { LeaseStore, createInstanceIdentity } = await loadPackage('lease-store')
const { flockSync } = createRequire(builtFile('packages/lease-store/dist/index.js'))('fs-ext')
const stamp = compileStamp()
if (stamp === undefined) process.exit(69)

const machine = machineLine()
const shared = freshFolder(diskParent(options.disk))
const root = join(shared, 'agents', 'registry')
const store = LeaseStore.open(root, {
  instance: createInstanceIdentity({ channel: 'stable', version: '1.0.0' })
})

/** Each: how the bench holds, and how a process waits for it. `hold` resolves with what releases. */
const PEERS = [
  { name: 'run --wait', hold: holdLease, command: (uid) => runCommand(uid) },
  { name: 'flock(1)', hold: holdFlock, command: (uid) => ['flock', lockOf(uid), stamp] },
  {
    name: 'claim every 250 ms',
    hold: holdLease,
    command: (uid) => [process.execPath, POLLER, root, uid, stamp]
  }
]

const idle = await watchIdle()
const wakes = await measureWakes()
const results = PEERS.map(({ name }, index) => ({ name, ...idle[index], ...wakes[index] }))
const [run] = results
const targets = [
  target(`context switches in ${options.seconds} s of waiting`, run.switches, 2 * options.seconds),
  target('release to grant, median', run.grant.median, 10, { unit: ' ms' }),
  target('release to start of the command, median', run.start.median, 10, { unit: ' ms' })
]
if (options.json) process.stdout.write(`${JSON.stringify({ machine, results, targets }, undefined, 2)}\n`)
else process.stdout.write(`${machine}\n${report()}\n\n${targetLines(targets)}\n`)
process.exit(0)

/** All wait at once, each for a key of its own. */
async function watchIdle() {
  const waits = []
  for (const peer of PEERS) {
    const uid = `idle-${waits.length}`
    const release = await peer.hold(uid)
    waits.push({ release, waiter: startStamped(peer.command(uid)) })
  }
  await sleep(SETTLE_MS)
  const before = waits.map(({ waiter }) => contextSwitches(waiter.pid))
  await sleep(options.seconds * 1_000)
  const after = waits.map(({ waiter }) => contextSwitches(waiter.pid))
  for (const { release, waiter } of waits) {
    await release()
    await waiter.ended
  }
  return waits.map((_, index) => {
    const grown = (name) => after[index][name] - before[index][name]
    return {
      switches: grown('voluntary') + grown('involuntary'),
      involuntary: grown('involuntary'),
      mainThread: grown('mainThread')
    }
  })
}

async function measureWakes() {
  const found = PEERS.map(() => ({ grant: [], start: [] }))
  for (let round = 0; round < options.rounds; round++) {
    for (let turn = 0; turn < PEERS.length; turn++) {
      const index = (round + turn) % PEERS.length
      const peer = PEERS[index]
      const uid = `woken-${index}`
      const release = await peer.hold(uid)
      const waiter = startStamped(peer.command(uid))
      await waiting(waiter.pid, peer)
      // Anywhere between two looks of whoever looks now and then.
      await sleep(100 + Math.random() * 250)
      const granted = peer.hold === holdLease ? grantOf(uid) : undefined
      await release()
      const releasedMs = monotonicMs()
      const grantedMs = await granted?.()
      found[index].start.push((await waiter.stamped) - releasedMs)
      if (grantedMs !== undefined) found[index].grant.push(grantedMs - releasedMs)
      await waiter.ended
    }
  }
  return found.map(({ grant, start }) => ({ grant: distribution(grant), start: distribution(start) }))
}

/** Sees the waiter's claim appear: looks every millisecond, so it is up to that late. */
function grantOf(uid) {
  return async () => {
    for (;;) {
      if (store.liveHolderOtherThan(uid, store.instance.ownerBootId).kind === 'held') return monotonicMs()
      await sleep(1)
    }
  }
}

async function holdLease(uid) {
  const result = await store.claim({ agent: { uid }, blockId: 'bench' })
  if (result.kind !== 'granted') throw new Error(JSON.stringify(result))
  let { lease } = result
  const timer = setInterval(async () => {
    const renewed = await store.renew(lease)
    if (renewed.kind === 'renewed') lease = renewed.lease
  }, RENEW_MS)
  return async () => {
    clearInterval(timer)
    await store.release(lease)
  }
}

async function holdFlock(uid) {
  const descriptor = openSync(lockOf(uid), 'a')
  flockSync(descriptor, 'ex')
  return async () => closeSync(descriptor)
}

function lockOf(uid) {
  return join(shared, `${uid}.flock`)
}

function runCommand(uid) {
  return [process.execPath, CLI, 'run', '--shared-dir', shared, '--uid', uid, '--wait', '--', stamp]
}

/** Resolves once the process waits: it has an inotify watch (ours), sleeps in flock, or has simply had the time. */
async function waiting(pid, { name }) {
  if (name !== 'run --wait') return sleep(name === 'flock(1)' ? 50 : 400)
  for (let tries = 0; tries < 1_000; tries++) {
    if (hasWatch(pid)) return
    await sleep(10)
  }
  throw new Error('the waiter never watched the lease file')
}

function hasWatch(pid) {
  try {
    return readdirSync(`/proc/${pid}/fdinfo`).some((fd) =>
      readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1').includes('inotify wd:')
    )
  } catch {
    return false
  }
}

/** Of all threads so far; those of the main thread are also counted apart. */
function contextSwitches(pid) {
  const counts = { voluntary: 0, involuntary: 0, mainThread: 0 }
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    const status = readFileSync(`/proc/${pid}/task/${task}/status`, 'latin1')
    const count = (name) => Number(new RegExp(`^${name}_ctxt_switches:\\s+(\\d+)`, 'm').exec(status)?.[1])
    counts.voluntary += count('voluntary')
    counts.involuntary += count('nonvoluntary')
    if (task === String(pid)) counts.mainThread = count('voluntary') + count('nonvoluntary')
  }
  return counts
}

function report() {
  const rows = results.map(({ name, switches, involuntary, mainThread, grant, start }) => [
    name,
    switches,
    involuntary,
    mainThread,
    ...[grant.median, grant.p99, start.median, start.p99].map(figures)
  ])
  const header = [
    'waiter',
    `switches in ${options.seconds} s`,
    'involuntary',
    'main thread',
    'release to grant, ms',
    'p99',
    'release to start, ms',
    'p99'
  ]
  return table(header, rows)
}
