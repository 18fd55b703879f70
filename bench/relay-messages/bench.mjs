/**
 * Ten thousand messages through a relay that is killed and restarted, to deliverers that are killed and take the agent from each
 * other. Delivered twice is wrong. Lost may be only what a deliverer had won and not delivered when it was killed; each
 * such message is named.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { diskParent, freshFolder } from '../measuring/places.mjs'
import { EtcdCluster } from '../relay/etcd-cluster.mjs'
import { RelayClient } from '../relay/relay-client.mjs'
import { newToken, RelayProcess } from '../relay/relay-process.mjs'

const options = readOptions(
  `node bench/relay-messages/bench.mjs [--messages 10000] [--agents 10] [--store sqlite] [--breaks 8] [--disk FOLDER] [--json]

--store    sqlite or etcd
--breaks   how often the relay is killed and started again, and as often a deliverer`,
  { messages: 10_000, agents: 10, store: 'sqlite', breaks: 8, disk: '', json: false }
)
const DELIVERER = fileURLToPath(new URL('deliverer.mjs', import.meta.url))
const SENDERS = 32
// Each of some ten processes is ended with this one, in all its restarts.
process.setMaxListeners(64)
const QUEUE = 100_000
const LOOK_MS = 1_000
const QUIET_LOOKS = 20

const machine = machineLine()
const folder = freshFolder(diskParent(options.disk))
const log = join(folder, 'deliveries')
writeFileSync(log, '')
mkdirSync(join(folder, 'data'), { mode: 0o700 })
const cluster = options.store === 'etcd' ? await EtcdCluster.start(3, folder) : undefined
const store = cluster === undefined ? ['--data', join(folder, 'data')] : ['--etcd', cluster.urls.join(',')]
const token = newToken(store)
let relay = await RelayProcess.start(store, ['--queue', String(QUEUE)])
const port = relay.port
const agents = Array.from({ length: options.agents }, (_, index) => `agent${index}`)
const deliverers = ['d0', 'd1', 'd2'].map(startDeliverer)
let injected = 0
let restarts = 0
let kills = 0
const killed = new Set()

const beganMs = performance.now()
await Promise.all([sendAll(), breakThings()])
await drained()
for (const deliverer of deliverers) await endDeliverer(deliverer, 'SIGTERM')
const seconds = (performance.now() - beganMs) / 1_000
await relay.end()
await cluster?.stop()
const result = { ...judge(), seconds }
if (options.json) process.stdout.write(`${JSON.stringify({ machine, ...result }, undefined, 2)}\n`)
else process.stdout.write(report(result))
process.exit(result.doubled.length + result.unexplained.length > 0 ? 1 : 0)

/** Each message carries its number; an unanswered one is sent again under the same key. */
async function sendAll() {
  const client = new RelayClient(relay.url, token, SENDERS)
  let next = 0
  const send = async () => {
    while (next < options.messages) {
      const number = next++
      const body = { target_agent: agents[number % agents.length], message: String(number) }
      for (let status = 0; status !== 200; ) {
        ;({ status } = await client.post('/reactive/inject', body, {
          'idempotency-key': `message-${number}`
        }))
        if (status !== 200) await sleep(50)
      }
      injected++
    }
  }
  await Promise.all(Array.from({ length: SENDERS }, send))
  client.close()
}

async function breakThings() {
  for (let count = 1; count <= options.breaks; count++) {
    await reached(() => injected >= (options.messages * count) / (options.breaks + 1))
    await relay.end('SIGKILL')
    relay = await RelayProcess.start(store, ['--port', port, '--queue', String(QUEUE)])
    restarts++
    const victim = count % deliverers.length
    killed.add(String(deliverers[victim].pid))
    await endDeliverer(deliverers[victim], 'SIGKILL')
    kills++
    deliverers[victim] = startDeliverer(`d${victim}`)
  }
}

/** All is delivered or explained, or nothing happens any more although the deliverers run: the queues are empty. */
async function drained() {
  let before = -1
  for (let quiet = 0; quiet < QUIET_LOOKS; ) {
    await sleep(LOOK_MS)
    const now = readFileSync(log).length
    quiet = now === before ? quiet + 1 : 0
    before = now
    if (quiet > 0 && judge().unexplained.length === 0) return
  }
}

function startDeliverer(name) {
  const args = [DELIVERER, `http://127.0.0.1:${port}`, token, name, log, agents.join(',')]
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

async function endDeliverer(child, signal) {
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

async function reached(isThere) {
  while (!isThere()) await sleep(20)
}

/** The log has `PID asked N`, then `PID delivered N`, `left N` or `returned N`, and `PID took AGENT`, each written at once. */
function judge() {
  const deliveries = new Map()
  /** Of each killed deliverer: what it had asked for and was never answered. */
  const open = new Map([...killed].map((pid) => [pid, new Set()]))
  let takeOvers = 0
  let returned = 0
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const [pid, what, number] = line.split(' ')
    if (what === 'asked') open.get(pid)?.add(number)
    else open.get(pid)?.delete(number)
    if (what === 'took') takeOvers++
    if (what === 'returned') returned++
    if (what === 'delivered') deliveries.set(number, (deliveries.get(number) ?? 0) + 1)
  }
  const asked = new Set([...open.values()].flatMap((numbers) => [...numbers]))
  const numbers = Array.from({ length: options.messages }, (_, index) => String(index))
  const lost = numbers.filter((number) => !deliveries.has(number))
  return {
    messages: options.messages,
    delivered: deliveries.size,
    doubled: [...deliveries].filter(([, count]) => count > 1).map(([number]) => number),
    /** Asked for by a deliverer that was killed before it knew, or before it had delivered it. */
    lostByKill: lost.filter((number) => asked.has(number)),
    unexplained: lost.filter((number) => !asked.has(number)),
    restarts,
    kills,
    takeOvers,
    returned
  }
}

function report({ messages, delivered, doubled, lostByKill, unexplained, takeOvers, returned }) {
  return [
    machine,
    '',
    `${options.store}: ${messages} messages, ${delivered} delivered, in ${seconds.toFixed(0)} s`,
    `${restarts} kills of the relay, ${kills} kills of a deliverer, ${takeOvers} take-overs, ${returned} deliveries failed and given back`,
    `doubled: ${doubled.length}${listed(doubled)}`,
    `lost with a deliverer that was killed between ack and delivery: ${lostByKill.length}${listed(lostByKill)}`,
    `lost otherwise: ${unexplained.length}${listed(unexplained)}`,
    ''
  ].join('\n')
}

function listed(numbers) {
  return numbers.length === 0 ? '' : ` (${numbers.join(', ')})`
}
