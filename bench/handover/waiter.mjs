/** Waits for a lease with the library alone, then starts the command: `waiter.mjs ROOT UID COMMAND…` */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadPackage } from '../measuring/packages.mjs'

const [root = '', uid = '', file = '', ...args] = process.argv.slice(2)
const { LeaseStore } = await loadPackage('lease-store')
const store = LeaseStore.open(root)
for (;;) {
  const result = await store.claim({ agent: { uid }, blockId: 'waiter' })
  if (result.kind === 'granted') {
    const [code] = await once(spawn(file, args, { stdio: 'inherit' }), 'exit')
    await store.release(result.lease)
    process.exit(code)
  }
  await store.waitForRelease(uid)
}
