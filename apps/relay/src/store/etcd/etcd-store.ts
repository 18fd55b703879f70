/**
 * A relay's store in etcd, for any number of relays. Keeps true what the cluster keeps true: with a majority of its members
 * gone or cut off everything is unavailable, and nothing is wrong.
 */
import type { Clock } from '@agentmux/lease-model'
import { Arrivals } from '../arrivals.js'
import { RELAY_TTL_MS } from '../lease-ttl.js'
import type { HolderChange, RelayStore } from '../relay-store.js'
import { STORE_LIMITS, type StoreLimits } from '../store-limits.js'
import { attempts } from './attempts.js'
import { EtcdClient } from './etcd-client.js'
import { KEYS } from './etcd-keys.js'
import { EtcdLeases } from './etcd-leases.js'
import { EtcdMessages } from './etcd-messages.js'
import { EtcdTokens } from './etcd-tokens.js'
import { KeepAlives } from './keep-alives.js'
import { Presence } from './presence.js'
import { watchQueues } from './watch-queues.js'

export interface EtcdStoreOptions {
  readonly hosts: readonly string[]
  readonly clock: Clock
  readonly onChange: (change: HolderChange) => void
  /** Whole seconds; etcd has a least of its own, a few seconds. */
  readonly ttlMs?: number
  readonly limits?: Partial<StoreLimits>
}

const WATCH_MS = 2_000

/** @throws StoreUnavailable */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<RelayStore> {
  const { hosts, clock, onChange, ttlMs = RELAY_TTL_MS } = options
  const limits = { ...STORE_LIMITS, ...options.limits }
  const etcd = new EtcdClient(hosts)
  const keepAlives = new KeepAlives(hosts)
  const presence = new Presence(etcd, keepAlives, { clock, ttlMs })
  try {
    await attempts(() => presence.start())
  } catch (error) {
    keepAlives.close()
    etcd.close()
    throw error
  }
  const arrivals = new Arrivals()
  const watch = watchQueues(etcd, arrivals)
  // So that nothing which is queued from now on goes unheard; it connects again by itself.
  await Promise.race([watch.connected, clock.sleep(WATCH_MS)])
  const { agentsPerAccount } = limits
  return {
    leases: new EtcdLeases({ etcd, keepAlives, presence, clock, ttlMs, agentsPerAccount, onChange }),
    messages: new EtcdMessages({ etcd, presence, arrivals, limits }),
    tokens: new EtcdTokens(etcd, clock),
    async check() {
      await etcd.get(KEYS.grace)
    },
    async close() {
      await presence.close()
      keepAlives.close()
      watch.end()
      etcd.close()
    }
  }
}
