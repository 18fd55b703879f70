/**
 * Ten thousand claims from sixteen clients through four relays on a cluster of three, once for each thing that is done to the
 * cluster meanwhile. One relay knows all members; each of the others knows one alone, and has to say so when that is cut off
 * or gone. Wrong is two holders at once, or an epoch given twice; the exit code is 1 then.
 */
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { diskParent } from '../measuring/places.mjs'
import { table } from '../measuring/table.mjs'
import { Cables, inOwnNetwork } from '../relay/cables.mjs'
import { EtcdCluster } from '../relay/etcd-cluster.mjs'
import { holder, RelayClient } from '../relay/relay-client.mjs'
import { newToken, RelayProcess } from '../relay/relay-process.mjs'
import { claimStorm } from './claim-storm.mjs'
import { duringStorm, FAULTS, PARTITIONS } from './faults.mjs'

const ALL = { ...FAULTS, ...PARTITIONS }
const options = readOptions(
  `node bench/relay-faults/bench.mjs [--claims 10000] [--clients 16] [--agents 8] [--only NAME,NAME] [--disk FOLDER] [--json]

--claims   answered claims per fault, granted or refused
--only     of: ${Object.keys(ALL).join(', ')}`,
  { claims: 10_000, clients: 16, agents: 8, only: '', disk: '', json: false }
)
/** Of the protocol. */
const TTL_MS = 60_000

const machine = machineLine()
const chosen = Object.entries(ALL).filter(
  ([name]) => options.only === '' || options.only.split(',').includes(name)
)
inOwnNetwork()
// Each of some ten processes is ended with this one.
process.setMaxListeners(32)
const cluster = await EtcdCluster.start(3, diskParent(options.disk), await Cables.lay(3))
const token = newToken(['--etcd', cluster.urls.join(',')])
const relays = await Promise.all(
  [cluster.urls.join(','), ...cluster.urls].map((urls) => RelayProcess.start(['--etcd', urls]))
)
const results = {}
try {
  for (const [name, fault] of chosen) {
    const clients = Array.from({ length: options.clients }, (_, index) =>
      stormClient(relays[index % relays.length], `c${index}`)
    )
    const agents = Array.from({ length: options.agents }, (_, index) => `${name} ${index}`)
    const during = duringStorm(fault, cluster, options.claims)
    const storm = await claimStorm(clients, {
      claims: options.claims,
      agents,
      ttlMs: TTL_MS,
      onClaim: during.onClaim
    })
    results[name] = { ...storm, whileBroken: await during.done() }
    process.stderr.write(`${name}: ${storm.claims} claims in ${storm.seconds.toFixed(0)} s\n`)
  }
} finally {
  await Promise.all(relays.map((relay) => relay.end('SIGKILL')))
  await cluster.stop()
}

const wrong = Object.values(results).some(({ violations }) => violations.length > 0)
if (options.json) process.stdout.write(`${JSON.stringify({ machine, results }, undefined, 2)}\n`)
else process.stdout.write(report())
process.exit(wrong ? 1 : 0)

function stormClient({ url }, name) {
  const client = new RelayClient(url, token, 1)
  const us = holder(name)
  return {
    async claim(agent) {
      const { status, json } = await client.post('/agents/lease', { agent_id: agent, ...us })
      if (status === 200) return { kind: 'held', epoch: json.epoch }
      return { kind: status === 409 ? 'refused' : 'unavailable' }
    },
    async release(agent) {
      const { status } = await client.post('/agents/lease/release', { agent_id: agent, ...us })
      return { kind: status === 200 ? 'done' : 'unavailable' }
    }
  }
}

function report() {
  const header = [
    '',
    'claims',
    'while broken',
    'granted',
    'refused',
    'unavailable',
    'longest s',
    'claims/s',
    'wrong'
  ]
  const rows = Object.entries(results).map(([name, result]) => [
    name,
    result.claims,
    result.whileBroken,
    result.granted,
    result.refused,
    result.unavailable,
    (result.longestMs / 1_000).toFixed(1),
    (result.claims / result.seconds).toFixed(0),
    result.violations.length
  ])
  const violations = Object.entries(results).flatMap(([name, result]) =>
    result.violations.map((violation) => `${name}: ${violation}`)
  )
  return `${machine}\n\n${table(header, rows)}\n${violations.map((line) => `${line}\n`).join('')}`
}
