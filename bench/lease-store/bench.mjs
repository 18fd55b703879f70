/**
 * What the calls of @agentmux/lease-store cost, beside a C program that does the same with the same guarantees and
 * beside proper-lockfile, on a disk and in memory. The three take turns, a round each, so that whatever else the
 * machine does falls on all of them.
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileC } from '../measuring/compile-c.mjs'
import { distribution, figures, median, quantile } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { loadPackage } from '../measuring/packages.mjs'
import { diskParent, freshFolder, memoryParent } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'
import { cProgram, ours, properLockfile } from './peers.mjs'
import { countSystemCalls } from './system-calls.mjs'

const options = readOptions(
  `node bench/lease-store/bench.mjs [--rounds 250] [--disk FOLDER] [--json] [--strace [--calls 1000]]

--rounds  rounds of each operation and peer; a round is 100 calls, of the synced ones 5
--disk    a folder on the disk to measure (default: the first of $TMPDIR, $HOME, node_modules that is not in memory)
--strace  instead of times, counts the system calls of each operation, ours and the C program's
--json    one JSON document on stdout`,
  { rounds: 250, disk: '', json: false, strace: false, calls: 1000 }
)

/** Calls in a round. A claim on a disk waits for it three times, so fewer of them. */
const CALLS = { verify: 100, renew: 100, refused: 100, pairs: 5 }
const WARM_UP_ROUNDS = 10

const leaseStore = await loadPackage('lease-store')
const program = compileC(fileURLToPath(new URL('peer.c', import.meta.url)))

if (options.strace) {
  await countSystemCalls({
    program,
    parent: diskParent(options.disk),
    calls: options.calls,
    json: options.json
  })
} else {
  await measure()
}

async function measure() {
  const machine = machineLine()
  const places = [{ place: 'disk', parent: diskParent(options.disk) }]
  const memory = memoryParent()
  if (memory !== undefined) places.push({ place: 'shm', parent: memory })
  const results = []
  for (const { place, parent } of places) results.push(...(await measureAt(place, parent)))
  const targets = targetsOf(results)
  if (options.json) {
    process.stdout.write(`${JSON.stringify({ machine, results, targets }, undefined, 2)}\n`)
    return
  }
  process.stdout.write(`${machine}\n${report(results)}\n\n${targetLines(targets)}\n`)
}

async function measureAt(place, parent) {
  const root = freshFolder(parent)
  const folder = join(root, 'leases')
  const us = ours(leaseStore, root)
  // The first claim makes the folder that the C program needs.
  await us.pairs('ours-pairs', 1)
  const peers = [us]
  if (program !== undefined) peers.push(cProgram(program, folder))
  peers.push(properLockfile(join(root, 'proper-lockfile')))

  const uidOf = (peer) => `${peer.name}-held`
  for (const peer of peers) await peer.hold(uidOf(peer))
  const durations = {}
  for (const operation of ['verify', 'renew', 'refused', 'pairs']) {
    for (let round = -WARM_UP_ROUNDS; round < options.rounds; round++) {
      for (let turn = 0; turn < peers.length; turn++) {
        const peer = peers[(round + WARM_UP_ROUNDS + turn) % peers.length]
        if (peer[operation] === undefined) continue
        const uid = operation === 'pairs' ? `${peer.name}-pairs` : (refusedAt(operation, peer) ?? uidOf(peer))
        const took = await peer[operation](uid, CALLS[operation])
        if (round < 0) continue
        const parts = operation === 'pairs' ? took : { [operation]: took }
        for (const [name, values] of Object.entries(parts)) {
          durations[name] ??= {}
          durations[name][peer.name] ??= []
          durations[name][peer.name].push(Float64Array.from(values, (ns) => ns / 1_000))
        }
      }
    }
  }
  for (const peer of peers) await peer.drop(uidOf(peer))
  for (const peer of peers) await peer.close()

  /** Ours is refused where the C program holds, and the other way about: a live process, and not our own. */
  function refusedAt(operation, peer) {
    if (operation !== 'refused' || program === undefined) return undefined
    return { ours: 'c-held', c: 'ours-held' }[peer.name]
  }
  return ['claim', 'refused', 'renew', 'verify', 'release'].map((name) => ({
    operation: name,
    place,
    ...summaryOf(durations[name])
  }))
}

/** Microseconds; ratios of the medians, and the middle half of the ratios of single rounds. */
function summaryOf(rounds) {
  const peers = {}
  for (const [peer, lists] of Object.entries(rounds)) {
    peers[peer] = distribution(lists.flatMap((list) => Array.from(list)))
  }
  const ratios = {}
  for (const peer of Object.keys(rounds)) {
    if (peer === 'ours') continue
    const each = rounds.ours.map((list, round) => median(list) / median(rounds[peer][round]))
    ratios[peer] = {
      medians: peers.ours.median / peers[peer].median,
      p25: quantile(each, 0.25),
      p75: quantile(each, 0.75)
    }
  }
  return { peers, ratios }
}

function report(results) {
  const rows = results.map(({ operation, place, peers, ratios }) => [
    operation,
    place,
    ...columns(peers.ours),
    ...columns(peers.c),
    ratioText(ratios.c),
    ...columns(peers['proper-lockfile']),
    ratioText(ratios['proper-lockfile'])
  ])
  const header = [
    'operation, µs',
    'place',
    'ours',
    'p99',
    'C',
    'p99',
    'ours/C',
    'p.-lockfile',
    'p99',
    'ours/p.-l.'
  ]
  return table(header, rows)
}

function columns(peer) {
  return peer === undefined ? ['–', '–'] : [figures(peer.median), figures(peer.p99)]
}

function ratioText(ratio) {
  if (ratio === undefined) return '–'
  return `${ratio.medians.toFixed(2)} [${ratio.p25.toFixed(2)}–${ratio.p75.toFixed(2)}]`
}

function targetsOf(results) {
  const ratio = (operation, place) =>
    results.find((result) => result.operation === operation && result.place === place)?.ratios.c?.medians ??
    Number.NaN
  const targets = []
  const places = [...new Set(results.map(({ place }) => place))]
  for (const [operation, limit, where] of [
    ['verify', 2.2, places],
    ['refused', 2.6, places],
    ['release', 2.4, places],
    ['claim', 1.3, ['disk']],
    ['renew', 0.4, ['disk']]
  ]) {
    for (const place of where) {
      targets.push(target(`${operation} on ${place}, times the C program`, ratio(operation, place), limit))
    }
  }
  return targets
}
