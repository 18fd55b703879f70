/**
 * A process that runs discovery and says on stdout, one JSON line each, what happens; it obeys lines on stdin. Started
 * as `node discoverer.mjs OPTIONS`, the options as JSON: {port, instanceId, timings}.
 */
import { hostname } from 'node:os'
import { createInterface } from 'node:readline'
import { createSystemClock } from '@agentmux/lease-model'
import { LanDiscovery } from '../../dist/index.js'

const options = JSON.parse(process.argv[2])
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const discovery = new LanDiscovery({
  clock: createSystemClock(),
  identity: {
    instanceId: options.instanceId ?? `${hostname()}/${options.port}`,
    hostname: hostname(),
    version: '0.1.0',
    channel: 'stable'
  },
  lanKey: options.lanKey ?? `${crypto.randomUUID()}${crypto.randomUUID()}`,
  timings: options.timings,
  onEvent: (event) => say({ ...event, cause: event.cause && String(event.cause.code ?? event.cause) })
})
const commands = {
  peers: () => say({ kind: 'peers', peers: discovery.peers.list() }),
  state: () => say({ kind: 'state', state: discovery.state }),
  heap: () => {
    globalThis.gc?.()
    say({ kind: 'heap', bytes: process.memoryUsage().heapUsed, peers: discovery.peers.size })
  },
  withdraw: () => discovery.advertise(undefined),
  close: async () => {
    await discovery.close()
    say({ kind: 'closed' })
    input.close()
  }
}
await discovery.start()
if (options.port !== undefined) discovery.advertise(options.port)
say({ kind: 'started', state: discovery.state })
const input = createInterface({ input: process.stdin })
input.on('line', (line) => void commands[line]?.())
