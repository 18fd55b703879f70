/** etcd for the commands that look or change a token, beside the relays that serve: it does not say that it serves itself. */
import type { Clock } from '@agentmux/lease-model'
import type { ListedAgent, TokenKeeper } from '../relay-store.js'
import { EtcdClient } from './etcd-client.js'
import { EtcdTokens } from './etcd-tokens.js'
import { listAgents } from './list-agents.js'

export interface EtcdLook {
  readonly tokens: TokenKeeper
  list(): AsyncIterable<ListedAgent>
  close(): Promise<void>
}

export function lookIntoEtcd(hosts: readonly string[], clock: Clock): EtcdLook {
  const etcd = new EtcdClient(hosts)
  return {
    tokens: new EtcdTokens(etcd, clock),
    list: () => listAgents(etcd),
    async close() {
      etcd.close()
    }
  }
}
