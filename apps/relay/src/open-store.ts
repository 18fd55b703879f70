/**
 * Which store the flags mean, opened for what a command needs of it: all of it for the server, which must be the only one on a
 * data folder, or a look and the tokens, beside a server that runs.
 */
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import type { CommonFlags } from './commands/common-flags.js'
import { dataDir } from './data-dir.js'
import type { HolderChange, ListedAgent, RelayStore, TokenKeeper } from './store/relay-store.js'
import type { StoreLimits } from './store/store-limits.js'

export interface ServingOptions {
  readonly clock: Clock
  readonly onChange: (change: HolderChange) => void
  readonly onDropped: (count: number) => void
  readonly ttlMs?: number
  readonly limits?: Partial<StoreLimits>
}

/** @throws DataFolderFault, StoreUnavailable */
export async function openServingStore(flags: CommonFlags, options: ServingOptions): Promise<RelayStore> {
  if (flags.etcd !== undefined) {
    const { openEtcdStore } = await import('./store/etcd/etcd-store.js')
    return openEtcdStore({ ...options, hosts: flags.etcd })
  }
  const { openSqliteStore } = await import('./store/sqlite/sqlite-store.js')
  return openSqliteStore({ ...options, dataDir: dataDir(flags.data, process.env) })
}

export interface LookedAtStore {
  readonly tokens: TokenKeeper
  list(): AsyncIterable<ListedAgent>
  close(): Promise<void>
}

/** @throws DataFolderFault, StoreUnavailable */
export async function openStoreBeside(flags: CommonFlags): Promise<LookedAtStore> {
  if (flags.etcd !== undefined) return etcdBeside(flags.etcd)
  const { openDatabase } = await import('./store/sqlite/open-database.js')
  const { AgentTable } = await import('./store/sqlite/agent-table.js')
  const { SqliteTokens } = await import('./store/sqlite/sqlite-tokens.js')
  const database = openDatabase(dataDir(flags.data, process.env))
  const table = new AgentTable(database)
  return {
    tokens: new SqliteTokens(database, createSystemClock()),
    async *list() {
      yield* table.list()
    },
    async close() {
      database.close()
    }
  }
}

async function etcdBeside(hosts: readonly string[]): Promise<LookedAtStore> {
  const { lookIntoEtcd } = await import('./store/etcd/look-into-etcd.js')
  return lookIntoEtcd(hosts, createSystemClock())
}
