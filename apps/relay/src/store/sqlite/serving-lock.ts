/**
 * One relay per data folder: when leases run out is known to one process alone. A database of its own that is locked for as
 * long as the process lives; the kernel gives it up with the process, however that ends.
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'

export class ServingLock {
  readonly #database: Database.Database

  private constructor(database: Database.Database) {
    this.#database = database
  }

  /** Undefined if another process serves from this folder. */
  static take(dataDir: string): ServingLock | undefined {
    const database = new Database(join(dataDir, 'serving.lock'), { timeout: 0 })
    try {
      database.exec('BEGIN EXCLUSIVE')
      return new ServingLock(database)
    } catch (error) {
      database.close()
      if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined
      throw error
    }
  }

  release(): void {
    this.#database.close()
  }
}
