/**
 * Holds leases as the daemon does and times what stands before a turn: `fence-holder.mjs ROOT LEASES PER_SECOND SECONDS`.
 * Prints `ready`, waits for a line, and then prints one JSON line, in microseconds. Ends with its input.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { distribution } from '../measuring/distribution.mjs'
import { loadPackage } from '../measuring/packages.mjs'

const [root = '', leasesText = '', perSecondText = '', secondsText = ''] = process.argv.slice(2)
const calls = Number(perSecondText) * Number(secondsText)
const EVENT = {
  kind: 'turn',
  text: 'a turn of a hundred characters, which is about as much as a person types'
}

const { createSystemClock, leaseTimings } = await loadPackage('lease-model')
const { createInstanceIdentity } = await loadPackage('lease-store')
const { HostAdmission, RecordFence, SharedRecord } = await loadPackage('host-admission')

const clock = createSystemClock()
const { ttlMs } = leaseTimings()
const record = new SharedRecord(root, { clock })
const admission = new HostAdmission({
  registryRoot: join(root, 'agents', 'registry'),
  instance: createInstanceIdentity({ channel: 'bench-fence', version: '1.0.0' }),
  clock,
  record
})
const held = []
for (let index = 0; index < Number(leasesText); index++) {
  const uid = `fenced-${index}`
  const result = await admission.acquire({ uid }, { blockId: uid })
  if (result.kind !== 'granted') throw new Error(`${uid}: ${JSON.stringify(result)}`)
  const { lease } = result
  const fence = new RecordFence(lease, { record, clock, ttlMs })
  await fence.append([EVENT])
  held.push({ lease, fence })
}
process.stdout.write('ready\n')
await once(process.stdin, 'data')

const timesUs = { check: [], verify: [], append: [] }
const startMs = performance.now()
for (let call = 0; call < calls; call++) {
  const dueMs = startMs + (call * 1_000) / Number(perSecondText)
  if (performance.now() < dueMs) await sleep(dueMs - performance.now())
  const { lease, fence } = held[call % held.length]
  await timed('verify', () => lease.verify(), 'held')
  fence.confirmed(clock.bootMs())
  await timed('check', () => fence.check(), 'held')
  await timed('append', () => fence.append([EVENT]), 'appended')
}
const results = Object.fromEntries(
  Object.entries(timesUs).map(([name, values]) => [name, distribution(values)])
)
process.stdout.write(`${JSON.stringify(results)}\n`)
await once(process.stdin, 'end')
// Not an orderly end: that would look through all processes once for each lease.
process.exit(0)

async function timed(name, run, expected) {
  const startedMs = performance.now()
  const { kind } = await run()
  timesUs[name].push((performance.now() - startedMs) * 1_000)
  if (kind !== expected) throw new Error(`${name}: ${kind}`)
}
