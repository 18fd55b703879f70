/** Queues in SQLite. A message is pending or won; which of the two is decided in the same commit that says who holds the agent. */
import type { AgentKey } from '../../model/agent-key.js'
import type { Seen } from '../../model/agent-record.js'
import { liveHolder } from '../../model/decide.js'
import { type Holder, type Identity, isSameHolder } from '../../model/holder.js'
import { type NewMessage, newMessageId } from '../../model/message.js'
import type { Arrivals } from '../arrivals.js'
import type { AckAnswer, AckedBy, InjectAnswer, MessageKeeper, PendingAnswer } from '../relay-store.js'
import type { StoreLimits } from '../store-limits.js'
import { type GroupCommit, reading } from './group-commit.js'
import type { MessageRow, MessageTable } from './message-table.js'

export interface SqliteMessagesOptions {
  readonly table: MessageTable
  readonly commit: GroupCommit
  readonly arrivals: Arrivals
  readonly seen: (key: AgentKey) => Seen
  /** See served-time.ts. */
  readonly servedMs: () => number
  readonly limits: StoreLimits
}

export class SqliteMessages implements MessageKeeper {
  readonly #options: SqliteMessagesOptions

  constructor(options: SqliteMessagesOptions) {
    this.#options = options
  }

  inject(key: AgentKey, message: NewMessage, requestKey: string | undefined): Promise<InjectAnswer> {
    const { table, commit, arrivals, servedMs, limits } = this.#options
    return commit.run<InjectAnswer>(() => {
      const before = requestKey === undefined ? undefined : table.injected(key, requestKey)
      if (before !== undefined) return { answer: { kind: 'queued', id: before } }
      if (table.pendingCount(key) >= limits.queue) return { answer: { kind: 'full' } }
      const id = newMessageId(message)
      const sinceMs = servedMs()
      table.insert(key, { ...message, id }, sinceMs)
      if (requestKey !== undefined) table.rememberInjection(key, requestKey, { id, sinceMs })
      return { answer: { kind: 'queued', id }, committed: () => arrivals.tell(key) }
    })
  }

  async pending(key: AgentKey, claimant: Identity): Promise<PendingAnswer> {
    const { table, limits } = this.#options
    return reading(() => {
      const { isHolder, heldBy } = this.#holding(key, claimant)
      if (!isHolder) return { kind: 'not-holder', heldBy }
      return { kind: 'pending', messages: table.pending(key, limits.pendingPage) }
    })
  }

  ack(key: AgentKey, ids: readonly string[], by: AckedBy): Promise<AckAnswer> {
    const { table, commit, servedMs } = this.#options
    return commit.run<AckAnswer>(() => {
      const { isHolder, heldBy } = this.#holding(key, by)
      const rows = ids.flatMap((id) => table.get(key, id) ?? [])
      const before = rows.filter((row) => wasWonBy(row, by))
      if (!isHolder && before.length === 0) return { answer: { kind: 'not-holder', heldBy } }
      const now = isHolder ? rows.filter((row) => row.acked === 0 && !this.#isOver(key, row.id, by)) : []
      for (const { id } of now) table.setAcked(key, id, { ...by, sinceMs: servedMs() })
      const won = new Set([...before, ...now].map(({ id }) => id))
      return { answer: { kind: 'won', ids: ids.filter((id) => won.delete(id)) } }
    })
  }

  giveBack(key: AgentKey, id: string, by: AckedBy): Promise<boolean> {
    const { table, commit, arrivals, servedMs } = this.#options
    return commit.run(() => {
      const row = table.get(key, id)
      if (row === undefined) return { answer: false }
      if (row.acked === 0) return { answer: true }
      // Won anew since this call was first made.
      if (this.#isOver(key, id, by)) return { answer: true }
      const winner = { instance: row.acked_instance, install: row.acked_install }
      if (!isSameHolder(winner, by)) return { answer: false }
      const sinceMs = servedMs()
      table.setPending(key, id, sinceMs)
      for (const call of [row.acked_key, by.requestKey ?? null]) {
        if (call !== null) table.rememberInjection(key, callOn(id, call), { id, sinceMs })
      }
      return { answer: true, committed: () => arrivals.tell(key) }
    })
  }

  onArrival(listener: (key: AgentKey) => void): () => void {
    return this.#options.arrivals.add(listener)
  }

  /** Inside a transaction. Returns how many messages were dropped that nobody had fetched. */
  dropOld(): number {
    const { table, servedMs, limits } = this.#options
    const now = servedMs()
    return table.drop({ pendingMs: now - limits.keepPendingMs, ackedMs: now - limits.keepAckedMs })
  }

  /**
   * Whether the call was an ack whose message has been given back since, or a give-back that was done: a late copy of either
   * changes nothing, for nobody waits for its answer.
   */
  #isOver(key: AgentKey, id: string, { requestKey }: AckedBy): boolean {
    return requestKey !== undefined && this.#options.table.injected(key, callOn(id, requestKey)) !== undefined
  }

  #holding(key: AgentKey, claimant: Identity): { isHolder: boolean; heldBy: Holder | undefined } {
    const heldBy = liveHolder(this.#options.seen(key))
    return { isHolder: heldBy !== undefined && isSameHolder(heldBy, claimant), heldBy }
  }
}

/** No key of a call to inject is like it: those have no blanks. */
function callOn(id: string, requestKey: string): string {
  return `${id} ${requestKey}`
}

/** By this very call, the answer to which was lost. */
function wasWonBy(row: MessageRow, by: AckedBy): boolean {
  if (row.acked === 0 || by.requestKey === undefined || row.acked_key !== by.requestKey) return false
  return isSameHolder({ instance: row.acked_instance, install: row.acked_install }, by)
}
