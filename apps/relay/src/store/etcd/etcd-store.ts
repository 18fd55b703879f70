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
import { agentIn, KEYS } from './etcd-keys.js'
import { EtcdLeases } from './etcd-leases.js'
import { EtcdMessages } from './etcd-messages.js'
import { EtcdTokens } from './etcd-tokens.js'
import { KeepAlives } from './keep-alives.js'
import { Presence } from './presence.js'

export interface EtcdStoreOptions {
  readonly hosts: readonly string[]
  readonly clock: Clock
  readonly onChange: (change: HolderChange) => void
  /** Whole seconds; etcd has a least of its own, a few seconds. */
  readonly ttlMs?: number
  readonly limits?: Partial<StoreLimits>
}

/** @throws StoreUnavailable */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<RelayStore> {
  const { hosts, clock, onChange, ttlMs = RELAY_TTL_MS } = options
  const limits = { ...STORE_LIMITS, ...options.limits }
  const etcd = new EtcdClient(hosts)
  const keepAlives = new KeepAlives(etcd)
  const presence = new Presence(etcd, keepAlives, { clock, ttlMs })
  try {
    await attempts(() => presence.start())
  } catch (error) {
    etcd.close()
    throw error
  }
  const arrivals = new Arrivals()
  const watcher = etcd.raw.watch().prefix(KEYS.queues).ignore('delete').watcher()
  watcher.on('put', ({ key }) => arrivals.tell(agentIn(key.toString())))
  // It connects again by itself; a wake that is lost meanwhile is a hint that is lost.
  watcher.on('error', () => {})
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
      watcher.cancel().catch(() => {})
      etcd.close()
    }
  }
}
