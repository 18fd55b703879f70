/** How long it takes to ask every computer on the network who holds an agent, and how many requests a re-check is. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createSystemClock } from '../../packages/lease-model/dist/index.js'
import { distribution } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { loadPackage } from '../measuring/packages.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'
import { peerRecord } from './hostile-peers.mjs'

const USAGE = `node bench/lan-holdings/bench.mjs [--rounds 200] [--json]
lanHolders with 1, 10 and 100 real HTTP peers on loopback, and the requests of one re-check.`

const options = readOptions(USAGE, { rounds: 200, json: false })
const { LanHoldings, lanHolders, resolveContests } = await loadPackage('lan-tier')
const clock = createSystemClock()

async function startPeers(count) {
  const child = fork(fileURLToPath(new URL('peers.mjs', import.meta.url)), [String(count)])
  const [started] = await once(child, 'message')
  return {
    peers: started.map(peerRecord),
    async questions() {
      child.send('count')
      const [{ questions }] = await once(child, 'message')
      return questions
    },
    close() {
      child.disconnect()
      return once(child, 'exit')
    }
  }
}

function optionsFor(peers) {
  return { peers: () => peers, hostname: 'mill', ownLease: () => undefined, clock, loopback: true }
}

async function timesOf(ask) {
  for (let warm = 0; warm < 20; warm++) await ask()
  const times = []
  for (let round = 0; round < options.rounds; round++) {
    const startMs = performance.now()
    const { answered, silent } = await ask()
    times.push(performance.now() - startMs)
    if (silent.length > 0) process.stderr.write(`${silent.length} silent, ${answered} answered\n`)
  }
  return distribution(times)
}

const results = []
for (const count of [1, 10, 100]) {
  const started = await startPeers(count)
  const holdings = new LanHoldings(optionsFor(started.peers))
  const kept = await timesOf(() => holdings.lanHolders('held'))
  await holdings.close()
  const once = await timesOf(() => lanHolders('held', optionsFor(started.peers)))
  await started.close()
  results.push({ count, kept, once })
}

const fifty = await startPeers(50)
const holdings = new LanHoldings(optionsFor(fifty.peers))
const agents = Array.from({ length: 100 }, (_, at) => [
  `agent-${at}`,
  { acquiredAtMs: 1, hostname: 'mill', claim: 'x' }
])
await resolveContests({
  mine: new Map(agents),
  ask: (questions, signal) => holdings.ask(questions, signal),
  clock,
  signal: new AbortController().signal,
  settle: () => {}
})
const requests = await fifty.questions()
await holdings.close()
await fifty.close()

const targets = [target('requests of one re-check, 100 agents and 50 peers', requests, 50)]
if (options.json) {
  process.stdout.write(`${JSON.stringify({ results, requests, targets })}\n`)
} else {
  const figures = ({ median, p99 }) => [median.toFixed(2), p99.toFixed(2)]
  const rows = results.map(({ count, kept, once }) => [`${count}`, ...figures(kept), ...figures(once)])
  const header = ['peers', 'kept connections, ms', 'p99', 'new connections, ms', 'p99']
  process.stdout.write(`${machineLine()}\n\n${table(header, rows)}\n\n${targetLines(targets)}\n`)
}
