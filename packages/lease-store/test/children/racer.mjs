/**
 * Claims one key as often as it can and writes down when it drove: a line at the beginning, one at the end, each appended
 * in one write. Arguments: the registry root, the UID, the audit file ('' for a single claim). Begins at the first line
 * on stdin, ends with stdin.
 */
import { appendFileSync } from 'node:fs'
import { LeaseStore } from '@agentmux/lease-store'

const [root, uid, audit] = process.argv.slice(2)
const store = LeaseStore.open(root, { ttlMs: 600_000, lockWaitMs: 60_000 })
const request = { agent: { uid }, blockId: 'racer' }

process.stdin.once('data', audit === '' ? once : overAndOver)
process.stdin.once('end', () => process.exit())
process.stdout.write('ready\n')

async function once() {
  const { kind, lease, holder } = await store.claim(request)
  process.stdout.write(`${JSON.stringify({ kind, epoch: lease?.epoch ?? holder?.epoch })}\n`)
}

async function overAndOver() {
  for (;;) {
    const result = await store.claim(request)
    if (result.kind === 'granted') {
      const { epoch } = result.lease
      appendFileSync(audit, `begin ${epoch} ${process.pid}\n`)
      await store.renew(result.lease)
      await store.verify(result.lease)
      appendFileSync(audit, `end ${epoch} ${process.pid}\n`)
      const released = await store.release(result.lease)
      if (released.kind !== 'released') appendFileSync(audit, `lost ${epoch} ${process.pid}\n`)
    } else {
      await store.waitForRelease(uid)
    }
  }
}
