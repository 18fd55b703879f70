/** Whether the data folder and its database can be used. A folder that is not there yet is not made. */
import { existsSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { databasePath } from '../store/sqlite/open-database.js'
import { checkPrivate } from '../store/sqlite/private-folder.js'
import type { Check } from './check.js'

const name = 'database'
const LEAST_FREE_BYTES = 256 * 1024 * 1024

export function checkSqlite(dataDir: string): Check[] {
  const path = databasePath(dataDir)
  if (!existsSync(path)) {
    return [{ name, level: 'ok', seen: `${path} is not there yet: the first serve or token add makes it` }]
  }
  try {
    checkPrivate(dataDir)
    return [checkFile(path), checkServing(dataDir), checkSpace(dataDir)]
  } catch (error) {
    const seen = error instanceof Error ? error.message : String(error)
    return [
      { name, level: 'fail', seen, todo: 'See the message; a damaged file comes back from a backup only.' }
    ]
  }
}

function checkFile(path: string): Check {
  const database = new Database(path, { readonly: true })
  try {
    const result = database.pragma('quick_check(1)', { simple: true })
    const agents = database.prepare('SELECT count(*) FROM agents').pluck().get()
    const seen = `${path}: ${agents} agents, SQLite ${database.prepare('SELECT sqlite_version()').pluck().get()}`
    if (result === 'ok') return { name, level: 'ok', seen }
    return { name, level: 'fail', seen: `${path} is damaged: ${result}`, todo: 'Restore it from a backup.' }
  } finally {
    database.close()
  }
}

function checkServing(dataDir: string): Check {
  const path = join(dataDir, 'serving.lock')
  const isFree = { name: 'relay', level: 'ok', seen: 'no relay serves from this folder' } as const
  if (!existsSync(path)) return isFree
  const database = new Database(path, { readonly: true, timeout: 0 })
  try {
    database.prepare('SELECT count(*) FROM sqlite_master').get()
    return isFree
  } catch {
    return { name: 'relay', level: 'ok', seen: 'a relay serves from this folder' }
  } finally {
    database.close()
  }
}

function checkSpace(dataDir: string): Check {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  const seen = `${Math.floor(free / 1024 / 1024)} MiB free`
  if (free >= LEAST_FREE_BYTES) return { name: 'disk', level: 'ok', seen }
  return { name: 'disk', level: 'warn', seen, todo: 'On a full disk nothing changes hands: make room.' }
}
