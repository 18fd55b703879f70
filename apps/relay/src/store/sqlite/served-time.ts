/**
 * How long this relay has served in all its life, for the age of messages and of remembered calls: no step of the wall
 * clock and no time that it was down makes them older. A crash loses a minute of it at most.
 */
import type Database from 'better-sqlite3'

const SAVE_MS = 60_000

export class ServedTime {
  readonly #save: Database.Statement
  readonly #beforeMs: number
  readonly #startMs: number
  #savedMs: number

  constructor(database: Database.Database, nowMs: number) {
    const read = database.prepare(`SELECT value FROM meta WHERE name = 'served_ms'`).pluck()
    this.#save = database.prepare(
      `INSERT INTO meta VALUES ('served_ms', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
    )
    this.#beforeMs = (read.get() as number | undefined) ?? 0
    this.#startMs = nowMs
    this.#savedMs = nowMs
  }

  servedMs(nowMs: number): number {
    return Math.floor(this.#beforeMs + nowMs - this.#startMs)
  }

  isDue(nowMs: number): boolean {
    return nowMs - this.#savedMs >= SAVE_MS
  }

  /** Inside a transaction. */
  save(nowMs: number): void {
    this.#save.run(this.servedMs(nowMs))
    this.#savedMs = nowMs
  }
}
