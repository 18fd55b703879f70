/**
 * Changes that were asked for in one turn of the event loop share one commit: each is answered once it is on the disk, and
 * the disk is waited for once. Changes run one after the other, each seeing those before it; if the commit fails, none of
 * them happened, and all are told so.
 */
import Database from 'better-sqlite3'
import { StoreUnavailable, type UnavailableBecause } from '../store-unavailable.js'

/** What a change answers, what is to be done once it is durable, and what to take back in memory if it never is. */
export interface Changed<T> {
  readonly answer: T
  readonly committed?: () => void
  readonly undo?: () => void
}

interface Waiting {
  readonly change: () => Changed<unknown>
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** One commit must not keep the others waiting for long. */
const MAX_CHANGES = 256

export class GroupCommit {
  readonly #database: Database.Database
  #waiting: Waiting[] = []
  #scheduled: NodeJS.Immediate | undefined

  constructor(database: Database.Database) {
    this.#database = database
  }

  /** `change` is synchronous, and throws before its first write or not at all. @throws StoreUnavailable */
  run<T>(change: () => Changed<T>): Promise<T> {
    if (!this.#database.open) return Promise.reject(new StoreUnavailable('closed'))
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ change, resolve: resolve as (answer: unknown) => void, reject })
      this.#schedule()
    })
  }

  /** Commits what waits, at once. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commit(this.#waiting.splice(0, MAX_CHANGES))
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => {
      this.#scheduled = undefined
      this.#commit(this.#waiting.splice(0, MAX_CHANGES))
      if (this.#waiting.length > 0) this.#schedule()
    })
  }

  #commit(group: readonly Waiting[]): void {
    if (group.length === 0) return
    const settle: (() => void)[] = []
    const undos: (() => void)[] = []
    try {
      this.#database.exec('BEGIN IMMEDIATE')
      for (const { change, resolve, reject } of group) {
        try {
          const { answer, committed, undo } = change()
          if (undo !== undefined) undos.push(undo)
          settle.push(() => {
            committed?.()
            resolve(answer)
          })
        } catch (error) {
          if (error instanceof Database.SqliteError) throw error
          settle.push(() => reject(error))
        }
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      this.#rollBack()
      for (const undo of undos.reverse()) undo()
      for (const { reject } of group) reject(unavailable(error))
      return
    }
    for (const each of settle) each()
  }

  #rollBack(): void {
    try {
      if (this.#database.inTransaction) this.#database.exec('ROLLBACK')
    } catch {
      // The next BEGIN says what is wrong.
    }
  }
}

/** Runs a read. @throws StoreUnavailable */
export function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof Database.SqliteError || error instanceof TypeError ? unavailable(error) : error
  }
}

function unavailable(error: unknown): StoreUnavailable {
  return new StoreUnavailable(codeOf(error), error)
}

function codeOf(error: unknown): UnavailableBecause {
  const code = error instanceof Database.SqliteError ? error.code : ''
  if (code === 'SQLITE_FULL') return 'full'
  if (code.startsWith('SQLITE_BUSY')) return 'contended'
  // better-sqlite3 says TypeError once the connection is closed.
  return error instanceof TypeError ? 'closed' : 'io'
}
