/**
 * A relay's store in one SQLite file, for one relay. Keeps true that only one process serves from a data folder, and that a
 * held lease that nobody renews is written down as lapsed.
 */
import type { Clock } from '@agentmux/lease-model'
import { Arrivals } from '../arrivals.js'
import { RELAY_TTL_MS } from '../lease-ttl.js'
import type { HolderChange, RelayStore } from '../relay-store.js'
import { STORE_LIMITS, type StoreLimits } from '../store-limits.js'
import { AgentTable } from './agent-table.js'
import { DataFolderFault } from './data-folder-fault.js'
import { GroupCommit } from './group-commit.js'
import { MessageTable } from './message-table.js'
import { openDatabase } from './open-database.js'
import { Renewals } from './renewals.js'
import { ServedTime } from './served-time.js'
import { ServingClock } from './serving-clock.js'
import { ServingLock } from './serving-lock.js'
import { SqliteLeases } from './sqlite-leases.js'
import { SqliteMessages } from './sqlite-messages.js'
import { SqliteTokens } from './sqlite-tokens.js'

export interface SqliteStoreOptions {
  readonly dataDir: string
  readonly clock: Clock
  readonly onChange: (change: HolderChange) => void
  /** Messages that were dropped because nobody had fetched them. */
  readonly onDropped?: (count: number) => void
  readonly ttlMs?: number
  readonly limits?: Partial<StoreLimits>
}

/** @throws DataFolderFault if the folder cannot be used, or another relay serves from it. */
export function openSqliteStore(options: SqliteStoreOptions): RelayStore {
  const { dataDir, clock, onChange, onDropped = () => {}, ttlMs = RELAY_TTL_MS } = options
  const limits = { ...STORE_LIMITS, ...options.limits }
  const database = openDatabase(dataDir)
  const lock = ServingLock.take(dataDir)
  if (lock === undefined) {
    database.close()
    throw new DataFolderFault(`another relay serves from ${dataDir}: end it, or give --data another folder`)
  }
  const commit = new GroupCommit(database)
  const arrivals = new Arrivals()
  const ticking = new ServingClock(clock, ttlMs, (nowMs) => tick(nowMs))
  const served = new ServedTime(database, ticking.nowMs())
  const table = new AgentTable(database)
  const leases = new SqliteLeases({
    table,
    commit,
    renewals: new Renewals(ticking),
    clock,
    agentsPerAccount: limits.agentsPerAccount,
    onChange
  })
  const messages = new SqliteMessages({
    table: new MessageTable(database),
    commit,
    arrivals,
    seen: (key) => leases.seen(key),
    servedMs: () => served.servedMs(ticking.nowMs()),
    limits
  })

  function tick(nowMs: number): void {
    // What fails now is tried again at the next tick; a caller who needs the store is told.
    leases.endLapsed().catch(() => {})
    if (!served.isDue(nowMs)) return
    commit.run(() => saveTime(nowMs)).catch(() => {})
  }

  function saveTime(nowMs: number) {
    served.save(nowMs)
    const dropped = messages.dropOld()
    return { answer: undefined, committed: () => onDropped(dropped) }
  }

  return {
    leases,
    messages,
    tokens: new SqliteTokens(database, clock),
    check: () => commit.run(() => ({ answer: served.save(ticking.nowMs()) })),
    async close() {
      if (!database.open) return
      ticking.stop()
      const saved = commit.run(() => saveTime(ticking.nowMs())).catch(() => {})
      commit.flush()
      await saved
      database.close()
      lock.release()
    }
  }
}
