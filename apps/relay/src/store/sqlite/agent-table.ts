/** The table of agents as records. A record is read and written whole. */
import type Database from 'better-sqlite3'
import type { AgentKey } from '../../model/agent-key.js'
import type { AgentRecord, AgentState } from '../../model/agent-record.js'
import type { ListedAgent } from '../relay-store.js'

interface Row {
  readonly account: string
  readonly agent: string
  readonly epoch: number
  readonly state: AgentState
  readonly instance: string
  readonly install: string
  readonly host: string
  readonly channel: string
  readonly version: string
  readonly acquired_at_ms: number
  readonly takes: string
}

const PAGE = 500

export class AgentTable {
  readonly #get: Database.Statement<[string, string], Row>
  readonly #put: Database.Statement
  readonly #setState: Database.Statement
  readonly #count: Database.Statement<[string], number>
  readonly #held: Database.Statement<[], Pick<Row, 'account' | 'agent'>>
  readonly #page: Database.Statement<[string, string, number], Row>

  constructor(database: Database.Database) {
    this.#get = database.prepare('SELECT * FROM agents WHERE account = ? AND agent = ?')
    this.#put = database.prepare(
      `INSERT OR REPLACE INTO agents (account, agent, epoch, state, instance, install, host, channel, version, acquired_at_ms, takes)
       VALUES (@account, @agent, @epoch, @state, @instance, @install, @host, @channel, @version, @acquiredAtMs, @takes)`
    )
    this.#setState = database.prepare('UPDATE agents SET state = ? WHERE account = ? AND agent = ?')
    this.#count = database.prepare<[string], number>('SELECT count(*) FROM agents WHERE account = ?').pluck()
    this.#held = database.prepare(`SELECT account, agent FROM agents WHERE state = 'held'`)
    this.#page = database.prepare(
      'SELECT * FROM agents WHERE (account, agent) > (?, ?) ORDER BY account, agent LIMIT ?'
    )
  }

  get({ account, agent }: AgentKey): AgentRecord | undefined {
    const row = this.#get.get(account, agent)
    return row === undefined ? undefined : recordOf(row)
  }

  put({ account, agent }: AgentKey, { holder, state, takes }: AgentRecord): void {
    this.#put.run({ ...holder, account, agent, state, takes: JSON.stringify(takes) })
  }

  setState({ account, agent }: AgentKey, state: AgentState): void {
    this.#setState.run(state, account, agent)
  }

  count(account: string): number {
    return this.#count.get(account) ?? 0
  }

  held(): IterableIterator<AgentKey> {
    return this.#held.iterate()
  }

  /** In pages, so that nobody who writes meanwhile is kept waiting. */
  *list(): Generator<ListedAgent> {
    let after = { account: '', agent: '' }
    for (;;) {
      const rows = this.#page.all(after.account, after.agent, PAGE)
      for (const row of rows) {
        const { holder, state } = recordOf(row)
        yield { account: row.account, agent: row.agent, state, holder }
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < PAGE) return
      after = last
    }
  }
}

function recordOf(row: Row): AgentRecord {
  const { epoch, state, instance, install, host, channel, version } = row
  return {
    holder: { instance, install, host, channel, version, epoch, acquiredAtMs: row.acquired_at_ms },
    state,
    takes: JSON.parse(row.takes) as string[]
  }
}
