/**
 * better-sqlite3, the real one, on a database in memory that belongs to the simulated disk of a relay: it outlives the process.
 * What was committed survives everything; what was not, nothing.
 */
import { createRequire } from 'node:module'

interface RealDatabase {
  open: boolean
  inTransaction: boolean
  exec(sql: string): void
  prepare(sql: string): unknown
  pragma(text: string, options?: object): unknown
  transaction(run: () => void): unknown
  close(): void
}
type RealModule = (new (path: string, options?: object) => RealDatabase) & { SqliteError: unknown }

/** What a relay has on its disk. */
export class RelayDisk {
  readonly #databases = new Map<string, RealDatabase>()
  readonly module: (name: string) => unknown

  /** `from`: a file of the package in which better-sqlite3 is installed. */
  constructor(from: string) {
    const real = createRequire(from)('better-sqlite3') as RealModule
    const databases = this.#databases
    class Database {
      static readonly SqliteError = real.SqliteError
      readonly #real: RealDatabase
      readonly #mine: boolean
      open = true

      constructor(path: string) {
        // A lock that the kernel gives up with the process: one relay runs at a time here.
        this.#mine = path.endsWith('.lock')
        const known = this.#mine ? undefined : databases.get(path)
        this.#real = known ?? new real(':memory:')
        if (!this.#mine) databases.set(path, this.#real)
        if (this.#real.inTransaction) this.#real.exec('ROLLBACK')
      }
      get inTransaction() {
        return this.#real.inTransaction
      }
      exec(sql: string) {
        this.#real.exec(sql)
      }
      prepare(sql: string) {
        return this.#real.prepare(sql)
      }
      pragma(text: string, options?: object) {
        return this.#real.pragma(text, options)
      }
      transaction(run: () => void) {
        return this.#real.transaction(run)
      }
      close() {
        this.open = false
        if (this.#mine) this.#real.close()
      }
    }
    this.module = () => Database
  }

  /** What stands in the databases, as somebody sees it who opens them beside the relay. */
  rows(sql: string): Record<string, unknown>[] {
    return [...this.#databases.values()].flatMap((database) =>
      (database.prepare(sql) as { all(): Record<string, unknown>[] }).all()
    )
  }

  dispose(): void {
    for (const database of this.#databases.values()) database.close()
  }
}
