/** Leases in SQLite: the row says who, memory says whether still. Every change of holder is one row, written in a shared commit. */
import type { Clock } from '@agentmux/lease-model'
import type { AgentKey } from '../../model/agent-key.js'
import type { AgentState, Seen } from '../../model/agent-record.js'
import {
  type Decision,
  decideClaim,
  decideRelease,
  decideRenew,
  decideTake,
  liveHolder,
  withTake
} from '../../model/decide.js'
import type { Claimant, Holder, Identity } from '../../model/holder.js'
import type { HolderChange, LeaseAnswer, LeaseKeeper, ListedAgent } from '../relay-store.js'
import type { AgentTable } from './agent-table.js'
import { type Changed, type GroupCommit, reading } from './group-commit.js'
import type { Renewals } from './renewals.js'

export interface SqliteLeasesOptions {
  readonly table: AgentTable
  readonly commit: GroupCommit
  readonly renewals: Renewals
  readonly clock: Pick<Clock, 'wallMs'>
  readonly agentsPerAccount: number
  readonly onChange: (change: HolderChange) => void
}

interface Granting extends AgentKey {
  readonly claimant: Claimant
  readonly because: 'claimed' | 'taken'
  readonly takeKey?: string | undefined
}

const MAX_LAPSES = 500

export class SqliteLeases implements LeaseKeeper {
  readonly #options: SqliteLeasesOptions
  readonly #counts = new Map<string, number>()

  constructor(options: SqliteLeasesOptions) {
    this.#options = options
    for (const key of options.table.held()) options.renewals.renewed(key)
  }

  claim(key: AgentKey, claimant: Claimant): Promise<LeaseAnswer> {
    return this.#options.commit.run(() => {
      const seen = this.seen(key)
      if (seen.record === undefined && this.#isFull(key.account)) return { answer: { kind: 'full' } }
      return this.#carryOut(decideClaim(seen, claimant), seen, { ...key, claimant, because: 'claimed' })
    })
  }

  take(key: AgentKey, claimant: Claimant, requestKey: string | undefined): Promise<LeaseAnswer> {
    return this.#options.commit.run(() => {
      const seen = this.seen(key)
      const decision = decideTake(seen, claimant, requestKey)
      return this.#carryOut(decision, seen, { ...key, claimant, because: 'taken', takeKey: requestKey })
    })
  }

  async renew(account: string, agents: readonly string[], claimant: Claimant): Promise<LeaseAnswer[]> {
    return reading(() =>
      agents.map((agent) => {
        const key = { account, agent }
        const decision = decideRenew(this.seen(key), claimant)
        if (decision.kind === 'refuse') return { kind: 'refused', heldBy: decision.heldBy }
        this.#options.renewals.renewed(key)
        return { kind: 'held', epoch: decision.epoch }
      })
    )
  }

  release(key: AgentKey, claimant: Identity): Promise<boolean> {
    return this.#options.commit.run(() => {
      if (!decideRelease(this.seen(key), claimant)) return { answer: false }
      return { answer: true, ...this.#end(key, 'released') }
    })
  }

  async look(key: AgentKey): Promise<Holder | undefined> {
    return reading(() => liveHolder(this.seen(key)))
  }

  async *list(): AsyncGenerator<ListedAgent> {
    yield* this.#options.table.list()
  }

  async heldCount(): Promise<number> {
    return this.#options.renewals.size
  }

  /** Writes down what has run out, so that it stays so after a restart. */
  async endLapsed(): Promise<void> {
    const { commit, renewals } = this.#options
    if (renewals.lapsed(1).length === 0) return
    await commit.run(() => {
      const ended = renewals.lapsed(MAX_LAPSES).map((key) => this.#end(key, 'lapsed'))
      return {
        answer: undefined,
        committed: () => {
          for (const { committed } of ended) committed()
        },
        undo: () => {
          for (const { undo } of ended) undo()
        }
      }
    })
  }

  /** To be asked in the turn in which it is acted on. */
  seen(key: AgentKey): Seen {
    const record = this.#options.table.get(key)
    return { record, live: record?.state === 'held' && this.#options.renewals.isLive(key) }
  }

  #carryOut(decision: Decision, seen: Seen, granting: Granting): Changed<LeaseAnswer> {
    const { renewals } = this.#options
    switch (decision.kind) {
      case 'refuse':
        return { answer: { kind: 'refused', heldBy: decision.heldBy } }
      case 'keep':
        renewals.renewed(granting)
        return { answer: { kind: 'held', epoch: decision.epoch } }
      case 'grant':
        return this.#grant(decision.epoch, seen, granting)
    }
  }

  #grant(epoch: number, { record, live }: Seen, granting: Granting): Changed<LeaseAnswer> {
    const { table, renewals, clock, onChange } = this.#options
    const { account, agent, claimant, because, takeKey } = granting
    const holder: Holder = { ...claimant, epoch, acquiredAtMs: clock.wallMs() }
    table.put(granting, { holder, state: 'held', takes: withTake(record?.takes ?? [], takeKey) })
    const isNew = record === undefined
    if (isNew) this.#counts.set(account, this.#count(account) + 1)
    const ended = record?.state === 'held' && !live ? 'lapsed' : record?.state
    const from = record === undefined || ended === undefined ? undefined : { ...record.holder, state: ended }
    return {
      answer: { kind: 'held', epoch },
      // At once: whoever comes next in the same commit has to see it.
      undo: this.#undoGrant(account, isNew, renewals.renewed(granting)),
      committed: () => onChange({ account, agent, because, from, to: holder })
    }
  }

  #undoGrant(account: string, isNew: boolean, forget: () => void): () => void {
    return () => {
      forget()
      if (isNew) this.#counts.delete(account)
    }
  }

  #end(key: AgentKey, state: Exclude<AgentState, 'held'>) {
    const { table, renewals, onChange } = this.#options
    const { account, agent } = key
    const record = table.get(key)
    table.setState(key, state)
    return {
      undo: renewals.forget(key),
      committed: () => {
        if (record === undefined) return
        onChange({ account, agent, because: state, from: { ...record.holder, state }, to: undefined })
      }
    }
  }

  #isFull(account: string): boolean {
    return this.#count(account) >= this.#options.agentsPerAccount
  }

  #count(account: string): number {
    const known = this.#counts.get(account) ?? this.#options.table.count(account)
    this.#counts.set(account, known)
    return known
  }
}
