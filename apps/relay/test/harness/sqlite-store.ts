/** SQLite on a clock that the test moves. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock } from '@agentmux/lease-model/testing'
import type { HolderChange } from '../../src/store/relay-store.js'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js'
import type { StoreLimits } from '../../src/store/store-limits.js'
import type { OpenedStore } from './opened-store.js'

const TTL_MS = 60_000
const DOWN_MS = 10 * TTL_MS

export async function openSqlite(limits: Partial<StoreLimits> = {}): Promise<OpenedStore> {
  const dataDir = mkdtempSync(join(tmpdir(), 'relay-store-'))
  const clock = createManualClock()
  const changes: HolderChange[] = []
  const open = () =>
    openSqliteStore({ dataDir, clock, ttlMs: TTL_MS, limits, onChange: (change) => changes.push(change) })
  let store = open()
  return {
    get store() {
      return store
    },
    changes,
    lapse: () => clock.advance(TTL_MS + 1_000),
    async restart() {
      await store.close()
      store = open()
    },
    async stayDown() {
      await store.close()
      await clock.advance(DOWN_MS)
      store = open()
    },
    stepWall: (ms) => clock.stepWall(ms),
    async close() {
      await store.close()
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
}
