/**
 * Waits in line for one key, as `run --wait` does, until it has had its turns, and writes each down in one append.
 * Arguments: the registry root, the UID, the log, the number of turns.
 */
import { appendFileSync } from 'node:fs'
import { LeaseStore } from '@agentmux/lease-store'

const [root, uid, log, turns] = process.argv.slice(2)
const store = LeaseStore.open(root, { lockWaitMs: 60_000 })

for (let left = Number(turns); left > 0; left--) {
  const lease = await granted()
  appendFileSync(log, `${lease.epoch} ${process.pid}\n`)
  const released = await store.release(lease)
  if (released.kind !== 'released') throw new Error(released.kind)
}

async function granted() {
  for (;;) {
    const result = await store.claim({ agent: { uid }, blockId: String(process.pid) })
    if (result.kind === 'granted') return result.lease
    await store.waitForRelease(uid)
  }
}
