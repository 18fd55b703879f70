/**
 * Holds many leases in one process, as the daemon does, and watches itself: `holder.mjs ROOT COUNT WARM_S SECONDS`.
 * Prints one JSON line.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { loadPackage } from '../measuring/packages.mjs'

const [root = '', countText = '', warmText = '', secondsText = ''] = process.argv.slice(2)
const count = Number(countText)
/** The monitor's own timer; its readings contain it. */
const RESOLUTION_MS = 4
/** A renewal is due every 5 s; one this old was late. */
const LATE_MS = 6_000

const { createInstanceIdentity } = await loadPackage('lease-store')
const { HostAdmission } = await loadPackage('host-admission')

let losses = 0
let faults = 0
const admission = new HostAdmission({
  registryRoot: root,
  instance: createInstanceIdentity({ channel: 'stable', version: '1.0.0' }),
  onFault: () => {
    faults += 1
  }
})

const uids = Array.from({ length: count }, (_, index) => `agent-${index}`)
makeKeys(uids)
const claimingMs = performance.now()
for (const uid of uids) {
  const result = await admission.acquire(
    { uid },
    {
      blockId: uid,
      onLost: () => {
        losses += 1
      }
    }
  )
  if (result.kind !== 'granted') throw new Error(`${uid}: ${JSON.stringify(result)}`)
  // Claims are synchronous: without a turn in between, ten thousand would keep the first ones from being renewed.
  await nextTurn()
}
const claimedMs = performance.now() - claimingMs

await sleep(Number(warmText) * 1_000)
const spread = await watch(async () => {
  await sleep(Number(secondsText) * 1_000)
})
// Before the listing: it takes a while, in which nothing is renewed.
const nowMs = Date.now()
const listed = admission.store.list()
const oldestMs = Math.max(...listed.map(({ renewedAtMs }) => nowMs - renewedAtMs))
const late = listed.filter(({ renewedAtMs }) => nowMs - renewedAtMs > LATE_MS).length

/** For comparison: what a process does that lets all renewals come due in the same moment. */
const together = await watch(async () => {
  for (const lease of admission.held) lease.renewSoon(1)
  await sleep(3_000)
})

process.stdout.write(
  `${JSON.stringify({ count, claimedMs, spread, together, held: listed.length, oldestMs, late, losses, faults })}\n`
)
// Not an orderly end: that would look through all processes once for each lease.
process.exit(0)

async function watch(during) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  const cpuBefore = process.cpuUsage()
  const loopBefore = performance.eventLoopUtilization()
  const startedMs = performance.now()
  delay.enable()
  await during()
  delay.disable()
  const wallMs = performance.now() - startedMs
  const cpu = process.cpuUsage(cpuBefore)
  return {
    cpuShare: (cpu.user + cpu.system) / 1_000 / wallMs,
    utilization: performance.eventLoopUtilization(loopBefore).utilization,
    delayP99Ms: beyondTimer(delay.percentile(99)),
    delayMaxMs: beyondTimer(delay.max)
  }
}

function beyondTimer(nanoseconds) {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
}

/** Keys that were used before: the first claim of a key makes two files, which is not what is measured here. */
function makeKeys(keys) {
  const folder = join(root, 'leases')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const key of keys) {
    writeFileSync(join(folder, `${key}.epoch`), '0\n')
    writeFileSync(join(folder, `${key}.lock`), '')
  }
}
