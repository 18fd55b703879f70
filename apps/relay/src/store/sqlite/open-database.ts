/**
 * The database file of a relay: in a folder that nobody else can enter, made on first use. Commits are durable
 * (WAL, synchronous=FULL). Several processes may have it open: the server, and the commands that look or add a token.
 */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { makeFolder } from '../../make-folder.js'
import { DataFolderFault } from './data-folder-fault.js'
import { checkPrivate } from './private-folder.js'
import { SCHEMA, SCHEMA_VERSION } from './schema.js'

/** Another process writes for a moment: a token, a checkpoint. */
const BUSY_MS = 1_000

export function databasePath(dataDir: string): string {
  return join(dataDir, 'relay.db')
}

/** @throws DataFolderFault for a folder or a file that cannot be used, with what to do. */
export function openDatabase(dataDir: string): Database.Database {
  const path = databasePath(dataDir)
  try {
    makeFolder(dataDir)
    checkPrivate(dataDir)
    const database = new Database(path, { timeout: BUSY_MS })
    chmodSync(path, 0o600)
    prepare(database)
    return database
  } catch (error) {
    if (error instanceof DataFolderFault) throw error
    throw new DataFolderFault(`${path} cannot be used: ${error instanceof Error ? error.message : error}`, {
      cause: error
    })
  }
}

function prepare(database: Database.Database): void {
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  const make = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true })
    if (version === SCHEMA_VERSION) return
    if (version !== 0)
      throw new DataFolderFault(`the database is of another version of the relay (${version})`)
    database.exec(SCHEMA)
    database.pragma(`user_version = ${SCHEMA_VERSION}`)
  })
  make.immediate()
}
