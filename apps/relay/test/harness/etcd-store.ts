/** A store in a cluster of etcd that lives longer than the test: each test has accounts of its own. */
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import { openEtcdStore } from '../../src/store/etcd/etcd-store.js'
import type { HolderChange } from '../../src/store/relay-store.js'
import type { StoreLimits } from '../../src/store/store-limits.js'
import type { OpenedStore } from './opened-store.js'
import { until } from './until.js'

const TTL_MS = 3_000

export async function openEtcd(
  hosts: readonly string[],
  limits: Partial<StoreLimits> = {}
): Promise<OpenedStore> {
  const system = createSystemClock()
  let stepMs = 0
  const clock: Clock = { ...system, wallMs: () => system.wallMs() + stepMs }
  const changes: HolderChange[] = []
  const open = () =>
    openEtcdStore({ hosts, clock, ttlMs: TTL_MS, limits, onChange: (change) => changes.push(change) })
  let store = await open()
  return {
    get store() {
      return store
    },
    changes,
    async lapse(key) {
      await until('the lease has lapsed', async () => (await store.leases.look(key)) === undefined)
    },
    async restart() {
      await store.close()
      store = await open()
    },
    async stayDown() {
      await store.close()
      await system.sleep(TTL_MS * 3)
      store = await open()
    },
    stepWall(ms) {
      stepMs += ms
    },
    close: () => store.close()
  }
}
