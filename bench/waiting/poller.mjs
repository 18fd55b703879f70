/**
 * How others wait: claims every 250 ms until it is granted, then starts the command, as `run --wait` does.
 * `poller.mjs ROOT UID COMMAND…`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadPackage } from '../measuring/packages.mjs'

const POLL_MS = 250
const [root = '', uid = '', file = '', ...args] = process.argv.slice(2)
const { LeaseStore, createInstanceIdentity } = await loadPackage('lease-store')
const store = LeaseStore.open(root, {
  instance: createInstanceIdentity({ channel: 'stable', version: '1.0.0' })
})
for (;;) {
  const result = await store.claim({ agent: { uid }, blockId: 'poller' })
  if (result.kind === 'granted') {
    const [code] = await once(spawn(file, args, { stdio: 'inherit' }), 'exit')
    await store.release(result.lease)
    process.exit(code)
  }
  await sleep(POLL_MS)
}
