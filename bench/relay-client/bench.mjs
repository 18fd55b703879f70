/**
 * The client of the relay beside a server on this computer: requests per tick for 1, 100, 1,000 and 10,000 held agents, how
 * long a tick takes and what it costs, and what grows over many renewals with every kind of answer.
 */
import { spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { figures } from '../measuring/distribution.mjs'
import { machineLine } from '../measuring/machine.mjs'
import { readOptions } from '../measuring/options.mjs'
import { builtFile, loadPackage } from '../measuring/packages.mjs'
import { table } from '../measuring/table.mjs'
import { target, targetLines } from '../measuring/targets.mjs'

const options = readOptions(
  `node bench/relay-client/bench.mjs [--renewals 10000] [--ticks 20] [--json]

--renewals  batch renewals with mixed answers
--ticks     ticks measured for each number of agents`,
  { renewals: 10_000, ticks: 20, json: false }
)
const { WanClient, RelayTick } = await loadPackage('wan-client')
const MIXED = builtFile('packages/wan-client/test/many-renewals.mjs')

let requests = 0
const server = createServer(async (request, response) => {
  requests += 1
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { agents } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ results: agents.map((agent_id) => ({ agent_id, ok: true, epoch: 1 })) }))
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

const machine = machineLine()
const ticks = []
for (const held of [1, 100, 1_000, 10_000]) ticks.push(await measureTicks(held))
server.closeAllConnections()
server.close()
const mixed = measureMixed()

const targets = [
  ...ticks
    .filter(({ held }) => held <= 1_000)
    .map(({ held, requestsPerTick }) => target(`requests per 20 s for ${held} held`, requestsPerTick, 1)),
  target('most sockets open', mixed.mostSockets, 9),
  target('listeners left over', mixed.listenersAfter - mixed.listenersBefore, 0),
  target('heap grown', mixed.heapGrowthBytes / 1024 / 1024, 1, { unit: ' MiB' })
]
if (options.json) {
  process.stdout.write(`${JSON.stringify({ machine, ticks, mixed, targets }, undefined, 2)}\n`)
} else process.stdout.write(`${machine}\n${report()}\n\n${targetLines(targets)}\n`)

/** The processor time is that of client and server together: they share this process. */
async function measureTicks(held) {
  const names = Array.from({ length: held }, (_, index) => `agent-${index}`)
  const client = new WanClient({
    url: `http://127.0.0.1:${server.address().port}`,
    identity: {
      host: 'mill',
      channel: 'stable',
      version: '1.0.0',
      install: '0a1b2c3d-0000-4000-8000-000000000001'
    },
    token: () => 'token'
  })
  const agent = { held: true, epoch: 1, confirmedAgoMs: 0, maybeHeldForMs: 0 }
  client.restore({ ...client.snapshot(), agents: names.map((name) => ({ agent: name, ...agent })) })
  const tick = new RelayTick({
    client,
    liveAgents: () => names,
    onHeldElsewhere: () => {},
    onFault: (fault) => {
      throw fault
    }
  })
  for (let n = 0; n < 5; n++) await tick.run()
  const before = requests
  const times = []
  const processor = process.cpuUsage()
  for (let n = 0; n < options.ticks; n++) {
    const beganMs = performance.now()
    await tick.run()
    times.push(performance.now() - beganMs)
  }
  const { user, system } = process.cpuUsage(processor)
  await client.close()
  times.sort((one, other) => one - other)
  return {
    held,
    requestsPerTick: (requests - before) / options.ticks,
    medianMs: times[Math.floor(times.length / 2)],
    longestMs: times.at(-1),
    processorMs: (user + system) / 1_000 / options.ticks
  }
}

function measureMixed() {
  const ran = spawnSync(process.execPath, ['--expose-gc', MIXED, String(options.renewals)], {
    encoding: 'utf8'
  })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return JSON.parse(ran.stdout)
}

function report() {
  const rows = ticks.map(({ held, requestsPerTick, medianMs, longestMs, processorMs }) => [
    held,
    requestsPerTick,
    ...[medianMs, longestMs, processorMs].map(figures)
  ])
  const { renewals, tookMs, mostSockets, listenersBefore, listenersAfter, heapGrowthBytes } = mixed
  return [
    table(['held', 'requests per tick', 'tick, ms', 'longest', 'processor, ms'], rows),
    '',
    table(
      ['mixed answers', 'took, s', 'most sockets', 'listeners before', 'after', 'heap grown, KiB'],
      [
        [
          renewals,
          figures(tookMs / 1_000),
          mostSockets,
          listenersBefore,
          listenersAfter,
          Math.round(heapGrowthBytes / 1024)
        ]
      ]
    )
  ].join('\n')
}
