/**
 * One of the processes that contend: claims, writes the begin and end lines of a turn, releases, and again, until the
 * time is up. Prints one JSON line with what it was granted and how long it waited.
 *
 * `claimer.mjs ROOT UID AUDIT SECONDS RETRY`; RETRY `woken` waits for the release after a refusal, as `run --wait`
 * does; `eager` claims again at once.
 */
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs'
import { loadPackage } from '../measuring/packages.mjs'

const [root = '', uid = '', audit = '', seconds = '', retry = 'woken'] = process.argv.slice(2)
const { LeaseStore, createInstanceIdentity } = await loadPackage('lease-store')
const store = LeaseStore.open(root, {
  instance: createInstanceIdentity({ channel: 'stable', version: '1.0.0' })
})
const auditFile = openSync(audit, 'a')
const agent = { uid }
const waitsMs = []
const tally = { granted: 0, refused: 0, unknown: 0, claimMs: 0, refusedMs: 0, waitMs: 0, releaseMs: 0 }

process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
const cpuBefore = process.cpuUsage()
const untilMs = performance.now() + Number(seconds) * 1_000
while (performance.now() < untilMs) {
  const wantedMs = performance.now()
  const lease = await granted(wantedMs)
  if (lease === undefined) break
  waitsMs.push(performance.now() - wantedMs)
  // One write each, to a file opened for appending: the lines of all processes stand in the order they were written.
  writeSync(auditFile, `begin ${lease.epoch} ${lease.claimId}\n`)
  writeSync(auditFile, `end ${lease.epoch} ${lease.claimId}\n`)
  const releasingMs = performance.now()
  await store.release(lease)
  tally.releaseMs += performance.now() - releasingMs
}
closeSync(auditFile)
appendFileSync(1, `${JSON.stringify({ waitsMs, tally, cpu: process.cpuUsage(cpuBefore) })}\n`)
process.exit(0)

/** The lease; undefined if the time was up while waiting, which counts as a wait too. */
async function granted(wantedMs) {
  for (;;) {
    const tryMs = performance.now()
    const result = await store.claim({ agent, blockId: 'bench' })
    const tookMs = performance.now() - tryMs
    tally[result.kind] += 1
    if (result.kind === 'granted') {
      tally.claimMs += tookMs
      return result.lease
    }
    tally.refusedMs += tookMs
    const leftMs = untilMs - performance.now()
    if (leftMs <= 0) {
      waitsMs.push(performance.now() - wantedMs)
      return undefined
    }
    if (retry === 'eager') continue
    const waitingMs = performance.now()
    try {
      await store.waitForRelease(uid, { signal: AbortSignal.timeout(Math.ceil(leftMs)) })
    } catch (error) {
      if (error.name !== 'TimeoutError') throw error
    }
    tally.waitMs += performance.now() - waitingMs
  }
}
