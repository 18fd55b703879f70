/** The statements on messages and on the calls that queued them, for the first time or again. */
import type Database from 'better-sqlite3'
import type { AgentKey } from '../../model/agent-key.js'
import type { Message, Priority } from '../../model/message.js'
import type { AckedBy } from '../relay-store.js'

export interface MessageRow {
  readonly id: string
  readonly text: string
  readonly source_agent: string
  readonly priority: string
  readonly created_at_ms: number
  readonly acked: 0 | 1
  readonly acked_instance: string
  readonly acked_install: string
  readonly acked_key: string | null
}

const AT = 'account = @account AND agent = @agent'
const MAX_DROPPED = 1_000

export class MessageTable {
  readonly #prepare: (sql: string) => Database.Statement
  readonly #statements = new Map<string, Database.Statement>()

  constructor(database: Database.Database) {
    this.#prepare = (sql) => database.prepare(sql)
  }

  insert(key: AgentKey, { id, text, sourceAgent, priority, createdAtMs }: Message, sinceMs: number): void {
    this.#statement(
      `INSERT INTO messages (account, agent, id, text, source_agent, priority, created_at_ms, since_served_ms)
       VALUES (@account, @agent, @id, @text, @sourceAgent, @priority, @createdAtMs, @sinceMs)`
    ).run({
      ...of(key),
      id,
      text,
      sourceAgent,
      priority: JSON.stringify(priority ?? null),
      createdAtMs,
      sinceMs
    })
  }

  get(key: AgentKey, id: string): MessageRow | undefined {
    return this.#statement(`SELECT * FROM messages WHERE ${AT} AND id = @id`).get({ ...of(key), id }) as
      | MessageRow
      | undefined
  }

  pending(key: AgentKey, limit: number): Message[] {
    const rows = this.#statement(
      `SELECT * FROM messages WHERE ${AT} AND acked = 0 ORDER BY id LIMIT @limit`
    ).all({ ...of(key), limit }) as MessageRow[]
    return rows.map((row) => ({
      id: row.id,
      text: row.text,
      sourceAgent: row.source_agent,
      priority: (JSON.parse(row.priority) as Priority | null) ?? undefined,
      createdAtMs: row.created_at_ms
    }))
  }

  pendingCount(key: AgentKey): number {
    const { count } = this.#statement(`SELECT count(*) AS count FROM messages WHERE ${AT} AND acked = 0`).get(
      of(key)
    ) as { count: number }
    return count
  }

  setAcked(key: AgentKey, id: string, by: AckedBy & { readonly sinceMs: number }): void {
    this.#statement(
      `UPDATE messages SET acked = 1, acked_instance = @instance, acked_install = @install, acked_key = @requestKey,
       since_served_ms = @sinceMs WHERE ${AT} AND id = @id`
    ).run({
      ...of(key),
      id,
      instance: by.instance,
      install: by.install,
      requestKey: by.requestKey ?? null,
      sinceMs: by.sinceMs
    })
  }

  setPending(key: AgentKey, id: string, sinceMs: number): void {
    this.#statement(
      `UPDATE messages SET acked = 0, acked_instance = '', acked_install = '', acked_key = NULL,
       since_served_ms = @sinceMs WHERE ${AT} AND id = @id`
    ).run({ ...of(key), id, sinceMs })
  }

  injected(key: AgentKey, requestKey: string): string | undefined {
    const row = this.#statement(`SELECT id FROM injections WHERE ${AT} AND request_key = @requestKey`).get({
      ...of(key),
      requestKey
    }) as { id: string } | undefined
    return row?.id
  }

  /** A call that queued the message, anew or again. */
  rememberInjection(key: AgentKey, requestKey: string, made: { id: string; sinceMs: number }): void {
    this.#statement(
      'INSERT OR REPLACE INTO injections (account, agent, request_key, id, since_served_ms) VALUES (@account, @agent, @requestKey, @id, @sinceMs)'
    ).run({ ...of(key), requestKey, ...made })
  }

  /** Returns how many messages that nobody had fetched are gone. */
  drop(before: { readonly pendingMs: number; readonly ackedMs: number }): number {
    this.#dropMessages(1, before.ackedMs)
    this.#statement(
      `DELETE FROM injections WHERE (account, agent, request_key) IN
       (SELECT account, agent, request_key FROM injections WHERE since_served_ms < @before LIMIT ${MAX_DROPPED})`
    ).run({ before: before.ackedMs })
    return this.#dropMessages(0, before.pendingMs)
  }

  #dropMessages(acked: 0 | 1, before: number): number {
    return this.#statement(
      `DELETE FROM messages WHERE (account, agent, id) IN
       (SELECT account, agent, id FROM messages WHERE acked = @acked AND since_served_ms < @before LIMIT ${MAX_DROPPED})`
    ).run({ acked, before }).changes
  }

  #statement(sql: string): Database.Statement {
    const known = this.#statements.get(sql) ?? this.#prepare(sql)
    this.#statements.set(sql, known)
    return known
  }
}

function of({ account, agent }: AgentKey): AgentKey {
  return { account, agent }
}
