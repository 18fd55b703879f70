/** Hostile answers from peers over real connections: nothing crashes, nothing grows, nothing of it counts as evidence. */
import { createSystemClock } from '../../packages/lease-model/dist/index.js'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { loadPackage } from '../measuring/packages.mjs'
import { seededRandom } from '../measuring/seeded-random.mjs'
import { target, targetLines } from '../measuring/targets.mjs'
import { startHostilePeers } from './hostile-peers.mjs'

const USAGE = `node --expose-gc bench/lan-holdings/fuzz.mjs [--answers 100000] [--peers 50] [--seed 1]
Sends hostile HTTP answers to who-holds questions.`

const options = readOptions(USAGE, { answers: 100_000, peers: 50, seed: 1 })
const { LanHoldings, LanSecret } = await loadPackage('lan-tier')

let answers = 0
const hostile = await startHostilePeers(options.peers, seededRandom(options.seed), () => {
  answers++
})
const common = {
  peers: () => hostile.peers,
  hostname: 'mill',
  ownLease: () => undefined,
  clock: createSystemClock(),
  loopback: true,
  timeoutMs: 500
}
const asking = [
  new LanHoldings(common),
  new LanHoldings({ ...common, secret: new LanSecret('a secret of this network') })
]

let evidence = 0
let faults = 0
const count = (error) => {
  faults++
  process.stderr.write(`${error?.stack ?? error}\n`)
}
process.on('uncaughtException', count)
process.on('unhandledRejection', count)

async function round() {
  for (const holdings of asking) {
    const look = await holdings.lanHolders('u')
    evidence += look.holders.length + look.answered
  }
}

const heapMb = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}
for (let warm = 0; warm < 40; warm++) await round()
const before = heapMb()
while (answers < options.answers) await round()
const after = heapMb()
for (const holdings of asking) await holdings.close()
for (let wait = 0; wait < 100 && hostile.open > 0; wait++) await new Promise((done) => setTimeout(done, 50))
const open = hostile.open
await hostile.close()

const targets = [
  target('answers that counted as evidence', evidence, 0),
  target('faults', faults, 0),
  target('growth of the heap', Math.max(0, after - before), 8, { unit: ' MB' }),
  target('connections left open after close', open, 0)
]
process.stdout.write(
  `${machineLine()}\n${answers} hostile answers, seed ${options.seed}\n\n${targetLines(targets)}\n`
)
