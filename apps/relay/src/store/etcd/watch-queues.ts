/** Hears of what any relay queues, through etcd. What arrives while the connection is lost goes unheard: a wake is a hint. */
import type { Arrivals } from '../arrivals.js'
import type { EtcdClient } from './etcd-client.js'
import { agentIn, KEYS } from './etcd-keys.js'

export interface QueueWatch {
  /** Resolves once everything that is queued from then on is heard. */
  readonly connected: Promise<void>
  end(): void
}

export function watchQueues({ raw }: EtcdClient, arrivals: Arrivals): QueueWatch {
  // Its `ignore` keeps what it should leave out.
  const watcher = raw.watch().prefix(KEYS.queues).only('put').watcher()
  const connected = new Promise<void>((resolve) => {
    watcher.once('connected', () => resolve())
  })
  watcher.on('put', ({ key }) => arrivals.tell(agentIn(key.toString())))
  // It connects again by itself.
  watcher.on('error', () => {})
  return {
    connected,
    end() {
      watcher.cancel().catch(() => {})
    }
  }
}
