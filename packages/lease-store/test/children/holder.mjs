/**
 * A process with a store of its own that does what its parent says: one JSON request a line, one JSON answer a line.
 * Arguments: the registry root, the options of the store as JSON.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { LeaseStore } from '@agentmux/lease-store'

const [root, options = '{}'] = process.argv.slice(2)
const store = LeaseStore.open(root, JSON.parse(options))
let lease
let locked

const operations = {
  hello: () => ({ pid: process.pid, host: store.host, instance: store.instance }),
  claim: async (request) => {
    const result = await store.claim(request)
    if (result.kind === 'granted') lease = result.lease
    return result
  },
  /** The same by an instance of its own, in this process. */
  rival: (request) => LeaseStore.open(root, JSON.parse(options)).claim(request),
  renew: async ({ driver }) => {
    const result = await store.renew(lease, driver)
    if (result.kind === 'renewed') lease = result.lease
    return result
  },
  verify: () => store.verify(lease),
  release: () => store.release(lease),
  look: ({ uid }) => store.liveHolderOtherThan(uid, ''),
  list: () => store.list(),
  doubts: () => ({ kind: store.doubts() ?? 'none' }),
  wait: ({ uid }) => store.waitForRelease(uid),
  /** Renews for as long as the process lives, without a pause. */
  renewForEver: () => {
    const again = async () => {
      const result = await store.renew(lease)
      if (result.kind === 'renewed') setImmediate(again)
    }
    again()
    return { kind: 'renewing' }
  },
  /** Takes the flock of a file and keeps it. */
  lock: ({ path }) => {
    locked = openSync(path, 'r+')
    createRequire(import.meta.url)('fs-ext').flockSync(locked, 'exnb')
    return { kind: 'locked' }
  },
  /** Writes to a file until there is no room left. */
  fill: ({ path }) => {
    const descriptor = openSync(path, 'w')
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(4_096))
    } catch (error) {
      return { kind: error.code }
    } finally {
      closeSync(descriptor)
    }
  },
  /** Another user from now on. What was imported so far stays usable, whoever may read it. */
  become: ({ uid }) => {
    process.setgroups([])
    process.setgid(uid)
    process.setuid(uid)
    return { kind: String(process.getuid()) }
  },
  unlock: () => {
    closeSync(locked)
    return { kind: 'unlocked' }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { operation, ...details } = JSON.parse(line)
  let answer
  try {
    answer = await operations[operation](details)
  } catch (error) {
    answer = {
      kind: 'thrown',
      name: error.name,
      message: error.message,
      code: error.code,
      errno: error.errno,
      path: error.path
    }
  }
  process.stdout.write(`${JSON.stringify(answer ?? null)}\n`)
}
