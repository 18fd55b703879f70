/** What a relay can do on this machine, with SQLite and with a cluster of etcd, and what many agents would need. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { distribution, figures } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'
import { EtcdCluster } from './etcd-cluster.mjs'
import { holder, RelayClient } from './relay-client.mjs'
import { cpuSeconds, memoryBytes, newToken, RelayProcess } from './relay-process.mjs'
import { seedEtcd, seededAgent, seedSqlite } from './seeded-agents.mjs'

const options = readOptions(
  `node bench/relay/bench.mjs [--seconds 6] [--clients 32] [--stores sqlite,etcd] [--seeded 10000] [--disk FOLDER] [--json]

--seconds  how long each load runs
--clients  requests under way at once; batches: an eighth of that
--stores   which stores, one after the other
--seeded   agents that are held for the measurement of memory, thousands`,
  { seconds: 6, clients: 32, stores: 'sqlite,etcd', seeded: 10_000, disk: '', json: false }
)
const BATCH = 1_000
const RENEW_SECONDS = 20
const MILLION = 1_000_000
const us = holder('bench')

const disk = diskParent(options.disk)
const machine = machineLine()
const results = {}
for (const name of options.stores.split(',')) {
  const cluster = name === 'etcd' ? await EtcdCluster.start(3, disk) : undefined
  const folder = dataFolder()
  const store = cluster === undefined ? ['--data', folder] : ['--etcd', cluster.urls.join(',')]
  const token = newToken(store)
  try {
    const load = await withRelay(store, token, cluster, measure)
    const empty = await withRelay(store, token, cluster, memoryWith)
    if (cluster === undefined) seedSqlite(folder, options.seeded)
    else await seedEtcd(cluster.urls, options.seeded)
    const full = await withRelay(store, token, cluster, memoryWith)
    results[name] = { ...load, perAgent: growth(empty, full), memory: full }
  } finally {
    await cluster?.stop()
  }
}

if (options.json) process.stdout.write(`${JSON.stringify({ machine, results }, undefined, 2)}\n`)
else process.stdout.write(report())

async function withRelay(store, token, cluster, work) {
  const relay = await RelayProcess.start(store)
  const client = new RelayClient(relay.url, token, options.clients)
  try {
    return await work(client, { relay: [relay.pid], etcd: cluster?.pids ?? [] })
  } finally {
    client.close()
    await relay.end()
  }
}

/** Of a relay that has renewed all seeded agents, if there are any: the same work either way. */
async function memoryWith(client, pids) {
  for (let from = 0; from < options.seeded; from += BATCH) {
    const agents = Array.from({ length: BATCH }, (_, index) => seededAgent(from + index))
    await client.post('/agents/lease/renew-batch', { agents, ...us })
  }
  return { relay: memoryBytes(pids.relay), etcd: memoryBytes(pids.etcd) }
}

function growth(before, after) {
  const each = (name) => Math.max(0, after[name] - before[name]) / options.seeded
  return { relay: each('relay'), etcd: each('etcd') }
}

async function measure(client, pids) {
  let next = 0
  const claims = await load(options.clients, pids, async () => {
    const { status } = await client.post('/agents/lease', { agent_id: `agent-${next++}`, ...us })
    if (status !== 200) throw new Error(`a claim was answered with ${status}`)
  })
  const held = next
  while (next < BATCH) await client.post('/agents/lease', { agent_id: `agent-${next++}`, ...us })
  let at = 0
  const renewals = await load(Math.max(1, Math.floor(options.clients / 8)), pids, async () => {
    at = (at + BATCH) % Math.max(1, held - BATCH)
    const agents = Array.from({ length: BATCH }, (_, index) => `agent-${at + index}`)
    const { status, json } = await client.post('/agents/lease/renew-batch', { agents, ...us })
    if (status !== 200) throw new Error(`a batch was answered with ${status}`)
    const ok = json.results.filter((one) => one.ok).length
    if (ok !== BATCH) throw new Error(`${ok} of ${BATCH} were renewed`)
  })
  return { claims, renewals, held }
}

/** The same again and again, so many at once. */
async function load(concurrency, pids, once) {
  const timesMs = []
  const cpu = { relay: cpuSeconds(pids.relay), etcd: cpuSeconds(pids.etcd) }
  const beganMs = performance.now()
  const endMs = beganMs + options.seconds * 1_000
  const work = async () => {
    while (performance.now() < endMs) {
      const fromMs = performance.now()
      await once()
      timesMs.push(performance.now() - fromMs)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const seconds = (performance.now() - beganMs) / 1_000
  return {
    perSecond: timesMs.length / seconds,
    timesMs: distribution(timesMs),
    cores: (cpuSeconds(pids.relay) - cpu.relay) / seconds,
    etcdCores: (cpuSeconds(pids.etcd) - cpu.etcd) / seconds
  }
}

function dataFolder() {
  const folder = join(freshFolder(disk), 'data')
  mkdirSync(folder, { mode: 0o700 })
  return folder
}

function report() {
  const rows = Object.entries(results).flatMap(([name, { claims, renewals }]) => [
    row(`${name}: claims`, claims, 1),
    row(`${name}: batches of ${BATCH}`, renewals, BATCH)
  ])
  const header = ['', '/s', 'agents/s', 'median ms', 'p99 ms', 'longest ms', 'cores', 'etcd cores']
  const needs = Object.entries(results).map(([name, { renewals, perAgent, memory }]) => {
    const wanted = MILLION / RENEW_SECONDS
    const renewed = renewals.perSecond * BATCH
    const cores = (used) => ((wanted / renewed) * used).toFixed(1)
    const parts = [
      `${name}: a million agents are ${wanted.toFixed(0)} renewals/s: ${cores(renewals.cores)} cores of the relay`,
      ...(memory.etcd > 0 ? [`${cores(renewals.etcdCores)} of etcd`] : []),
      `memory of the relay ${mebibytes(memory.relay)} MiB with ${options.seeded} more agents, ${forMillion(perAgent.relay)}`,
      ...(memory.etcd > 0
        ? [`of all members ${mebibytes(memory.etcd)} MiB, ${forMillion(perAgent.etcd)}`]
        : [])
    ]
    return parts.join('; ')
  })
  return `${machine}\n\n${table(header, rows)}\n\n${needs.join('\n')}\n`
}

function row(name, { perSecond, timesMs, cores, etcdCores }, agents) {
  return [
    name,
    perSecond.toFixed(perSecond < 10 ? 1 : 0),
    (perSecond * agents).toFixed(0),
    figures(timesMs.median),
    figures(timesMs.p99),
    figures(timesMs.max),
    cores.toFixed(2),
    etcdCores.toFixed(2)
  ]
}

function mebibytes(bytes) {
  return (bytes / 1024 ** 2).toFixed(0)
}

function forMillion(perAgent) {
  return `${perAgent.toFixed(0)} bytes for each: ${((MILLION * perAgent) / 1024 ** 3).toFixed(1)} GiB for a million`
}
