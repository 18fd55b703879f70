/**
 * Times checkBeforeSpawn: `early-checks.mjs SHARED CALLS OWN_PANES`, with so many agents of our own in the registry.
 * Prints one JSON line, in milliseconds.
 */
import { join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { distribution } from '../measuring/distribution.mjs'
import { loadPackage } from '../measuring/packages.mjs'

const [shared = '', callsText = '', ownText = ''] = process.argv.slice(2)
/** Beside the daemon's, so that it is another instance. */
const CHANNEL = 'bench-early'

const { createSystemClock } = await loadPackage('lease-model')
const { createInstanceIdentity } = await loadPackage('lease-store')
const { EarlyCheck, HostAdmission, InstanceClient, OtherInstances, ReactiveRegistry } =
  await loadPackage('host-admission')

const clock = createSystemClock()
const { store, holds, claimant } = new HostAdmission({
  registryRoot: join(shared, 'agents', 'registry'),
  instance: createInstanceIdentity({ channel: CHANNEL, version: '1.0.0' }),
  clock
})
const registry = new ReactiveRegistry(shared, { clock, host: store.host })
const client = new InstanceClient({ clock })
const others = new OtherInstances({ registry, client, hostname: claimant.hostname })
let doubts = 0
const early = new EarlyCheck({
  store,
  holds,
  others,
  clock,
  onDoubt: () => {
    doubts += 1
  }
})
const server = { channel: CHANNEL, localUrl: 'http://127.0.0.1:9', authKey: 'nobody-asks-for-it' }
for (let index = 0; index < Number(ownText); index++) {
  registry.register(server, { agentName: `own-${index}`, blockId: `own-${index}` })
}
// What was just written is read each time; a daemon has been there for longer.
await sleep(500)

const timesMs = []
for (let call = -50; call < Number(callsText); call++) {
  const startedMs = performance.now()
  const { kind } = await early.checkBeforeSpawn({ uid: `spawned-${call}`, name: `spawned ${call}` })
  if (kind !== 'pass') throw new Error(`it is ${kind}`)
  if (call >= 0) timesMs.push(performance.now() - startedMs)
  await nextTurn()
}
registry.close()
process.stdout.write(`${JSON.stringify({ ...distribution(timesMs), doubts })}\n`)
process.exit(0)
