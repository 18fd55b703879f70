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

const options = readOptions(
  `node bench/relay/bench.mjs [--seconds 6] [--clients 32] [--stores sqlite,etcd] [--disk FOLDER] [--json]

--seconds  how long each load runs
--clients  requests under way at once; batches: an eighth of that
--stores   which stores, one after the other`,
  { seconds: 6, clients: 32, stores: 'sqlite,etcd', disk: '', json: false }
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
  const store = cluster === undefined ? ['--data', dataFolder()] : ['--etcd', cluster.urls.join(',')]
  const token = newToken(store)
  const relay = await RelayProcess.start(store)
  const client = new RelayClient(relay.url, token, options.clients)
  const pids = { relay: [relay.pid], etcd: cluster?.pids ?? [] }
  try {
    results[name] = await measure(client, pids)
  } finally {
    client.close()
    await relay.end()
    await cluster?.stop()
  }
}

if (options.json) process.stdout.write(`${JSON.stringify({ machine, results }, undefined, 2)}\n`)
else process.stdout.write(report())

async function measure(client, pids) {
  let next = 0
  const before = memoryBytes(pids.relay)
  const claims = await load(options.clients, pids, async () => {
    const { status } = await client.post('/agents/lease', { agent_id: `agent-${next++}`, ...us })
    if (status !== 200) throw new Error(`a claim was answered with ${status}`)
  })
  const held = next
  const perAgent = (memoryBytes(pids.relay) - before) / held
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
  return {
    claims,
    renewals,
    held,
    perAgent,
    memory: memoryBytes(pids.relay),
    etcdMemory: memoryBytes(pids.etcd)
  }
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
  const needs = Object.entries(results).map(([name, { renewals, perAgent, held, memory, etcdMemory }]) => {
    const wanted = MILLION / RENEW_SECONDS
    const agentsPerCore = (renewals.perSecond * BATCH) / (renewals.cores + renewals.etcdCores)
    const gigabytes = (MILLION * Math.max(0, perAgent)) / 1024 ** 3
    return (
      `${name}: a million agents are ${wanted.toFixed(0)} renewals/s: ${(wanted / agentsPerCore).toFixed(1)} cores, ` +
      `of which the relay ${((wanted / (renewals.perSecond * BATCH)) * renewals.cores).toFixed(1)}. ` +
      `Memory: ${(memory / 1024 ** 2).toFixed(0)} MiB with ${held} agents` +
      (etcdMemory > 0 ? `, etcd ${(etcdMemory / 1024 ** 2).toFixed(0)} MiB` : '') +
      `; at the growth seen (${Math.max(0, perAgent).toFixed(0)} bytes per agent) ${gigabytes.toFixed(1)} GiB for a million.`
    )
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
