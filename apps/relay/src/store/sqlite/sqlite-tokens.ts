/** Tokens in SQLite, by their hashes. A revoked one is kept out of every answer at once. */
import type { Clock } from '@agentmux/lease-model'
import type Database from 'better-sqlite3'
import { isExpired, type Token } from '../../model/token.js'
import type { TokenKeeper } from '../relay-store.js'
import { reading } from './group-commit.js'

interface Row {
  readonly id: string
  readonly account: string
  readonly agent: string
  readonly created_at_ms: number
  readonly expires_at_ms: number | null
}

export class SqliteTokens implements TokenKeeper {
  readonly #clock: Pick<Clock, 'wallMs'>
  readonly #add: Database.Statement
  readonly #find: Database.Statement<[string], Row>
  readonly #list: Database.Statement<[], Row>
  readonly #revoke: Database.Statement

  constructor(database: Database.Database, clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock
    this.#add = database.prepare(
      `INSERT INTO tokens (id, hash, account, agent, created_at_ms, expires_at_ms)
       VALUES (@id, @hash, @account, @agent, @createdAtMs, @expiresAtMs)`
    )
    this.#find = database.prepare('SELECT * FROM tokens WHERE hash = ? AND revoked = 0')
    this.#list = database.prepare('SELECT * FROM tokens WHERE revoked = 0 ORDER BY created_at_ms, id')
    this.#revoke = database.prepare('UPDATE tokens SET revoked = 1 WHERE id = ? AND revoked = 0')
  }

  async add(token: Token, hash: string): Promise<void> {
    reading(() => this.#add.run({ ...token, expiresAtMs: token.expiresAtMs ?? null, hash }))
  }

  async find(hash: string): Promise<Token | undefined> {
    const row = reading(() => this.#find.get(hash))
    if (row === undefined) return undefined
    const token = tokenOf(row)
    return isExpired(token, this.#clock.wallMs()) ? undefined : token
  }

  async list(): Promise<Token[]> {
    return reading(() => this.#list.all().map(tokenOf))
  }

  async revoke(id: string): Promise<boolean> {
    return reading(() => this.#revoke.run(id).changes > 0)
  }
}

function tokenOf({ id, account, agent, created_at_ms, expires_at_ms }: Row): Token {
  return { id, account, agent, createdAtMs: created_at_ms, expiresAtMs: expires_at_ms ?? undefined }
}
