/**
 * Leases in etcd: a record that stays, and a key beside it that lives on a lease of etcd of its own, so that an agent nobody
 * renews lapses without us. Every change is one transaction on what was read; whoever comes second reads again.
 */
import type { Clock } from '@agentmux/lease-model'
import type { AgentKey } from '../../model/agent-key.js'
import type { AgentRecord } from '../../model/agent-record.js'
import {
  type Decision,
  decideClaim,
  decideRelease,
  decideRenew,
  decideTake,
  liveHolder,
  withTake
} from '../../model/decide.js'
import { type Claimant, type Holder, type Identity, isSameHolder } from '../../model/holder.js'
import type { HolderChange, LeaseAnswer, LeaseKeeper, ListedAgent } from '../relay-store.js'
import { AGENTS_IN_A_READ, type SeenInEtcd, seeAgent, seeAgents } from './agent-reads.js'
import { AGAIN, attempts } from './attempts.js'
import type { EtcdClient } from './etcd-client.js'
import { KEYS } from './etcd-keys.js'
import type { KeepAlives } from './keep-alives.js'
import { listAgents } from './list-agents.js'
import type { Presence } from './presence.js'
import { found, read, remove, valueIn, write } from './txn-parts.js'

export interface EtcdLeasesOptions {
  readonly etcd: EtcdClient
  readonly keepAlives: KeepAlives
  readonly presence: Presence
  readonly clock: Pick<Clock, 'wallMs'>
  readonly ttlMs: number
  readonly agentsPerAccount: number
  readonly onChange: (change: HolderChange) => void
}

interface Granting {
  readonly claimant: Claimant
  readonly because: 'claimed' | 'taken'
  readonly takeKey?: string | undefined
}

/** What etcd takes in one transaction, by default, is 128. */
const READS = 120

export class EtcdLeases implements LeaseKeeper {
  readonly #options: EtcdLeasesOptions

  constructor(options: EtcdLeasesOptions) {
    this.#options = options
  }

  claim(key: AgentKey, claimant: Claimant): Promise<LeaseAnswer> {
    const { etcd, agentsPerAccount } = this.#options
    return attempts<LeaseAnswer>(async () => {
      const { seen } = await seeAgent(etcd, key)
      if (seen.record === undefined && (await etcd.count(KEYS.records(key.account))) >= agentsPerAccount) {
        return { kind: 'full' }
      }
      return this.#carryOut(key, seen, {
        claimant,
        because: 'claimed',
        decision: decideClaim(seen, claimant)
      })
    })
  }

  take(key: AgentKey, claimant: Claimant, requestKey: string | undefined): Promise<LeaseAnswer> {
    return attempts<LeaseAnswer>(async () => {
      const { seen } = await seeAgent(this.#options.etcd, key)
      const decision = decideTake(seen, claimant, requestKey)
      return this.#carryOut(key, seen, { claimant, because: 'taken', takeKey: requestKey, decision })
    })
  }

  /** Most are alive: one look at many, then all are kept alive together. Of the others more is read, of many at once as well. */
  async renew(account: string, agents: readonly string[], claimant: Claimant): Promise<LeaseAnswer[]> {
    const keys = agents.map((agent) => ({ account, agent }))
    const answers = await Promise.all(chunksOf(keys, READS).map((chunk) => this.#renewAlive(chunk, claimant)))
    const known = answers.flat()
    const open = keys.filter((_, index) => known[index] === undefined)
    const others = await Promise.all(
      chunksOf(open, AGENTS_IN_A_READ).map((chunk) => this.#renewOthers(chunk, claimant))
    )
    const rest = others.flat()
    return known.flatMap((answer) => answer ?? rest.splice(0, 1))
  }

  release(key: AgentKey, claimant: Identity): Promise<boolean> {
    const { etcd, presence, onChange } = this.#options
    return attempts(async () => {
      const { seen } = await seeAgent(etcd, key)
      const { record } = seen
      if (record === undefined || !decideRelease(seen, claimant)) return false
      const { succeeded } = await etcd.txn({
        compare: [presence.condition, ...seen.unchanged],
        success: [write(KEYS.record(key), { ...record, state: 'released' }), remove(KEYS.live(key))]
      })
      if (!succeeded) return this.#again()
      etcd.revoke(seen.lease)
      onChange({ ...key, because: 'released', from: { ...record.holder, state: 'released' }, to: undefined })
      return true
    })
  }

  look(key: AgentKey): Promise<Holder | undefined> {
    return attempts(async () => liveHolder((await seeAgent(this.#options.etcd, key)).seen))
  }

  list(): AsyncIterable<ListedAgent> {
    return listAgents(this.#options.etcd)
  }

  heldCount(): Promise<number> {
    return this.#options.etcd.count(KEYS.lives)
  }

  /** Undefined for those that nothing keeps alive in etcd. */
  async #renewAlive(keys: readonly AgentKey[], claimant: Claimant): Promise<(LeaseAnswer | undefined)[]> {
    const { etcd, keepAlives } = this.#options
    const lives = await attempts(async () =>
      found(await etcd.txn({ compare: [], success: keys.map((key) => read(KEYS.live(key))) }))
    )
    return Promise.all(
      keys.map(async (key, index) => {
        const live = lives[index]
        if (live === undefined) return undefined
        const holder = valueIn<Holder>(live)
        if (!isSameHolder(holder, claimant)) return { kind: 'refused', heldBy: holder }
        const alive = await keepAlives.renew(live.lease)
        return alive ? { kind: 'held', epoch: holder.epoch } : this.#renewOne(key, claimant)
      })
    )
  }

  async #renewOthers(keys: readonly AgentKey[], claimant: Claimant): Promise<LeaseAnswer[]> {
    const seen = await attempts(() => seeAgents(this.#options.etcd, keys))
    return Promise.all(
      keys.map(async (key, index) => {
        const one = seen[index]
        const decision = one === undefined ? undefined : decideRenew(one, claimant)
        return decision?.kind === 'refuse'
          ? { kind: 'refused', heldBy: decision.heldBy }
          : this.#renewOne(key, claimant)
      })
    )
  }

  #renewOne(key: AgentKey, claimant: Claimant): Promise<LeaseAnswer> {
    return attempts<LeaseAnswer>(async () => {
      const { seen } = await seeAgent(this.#options.etcd, key)
      const decision = decideRenew(seen, claimant)
      return this.#carryOut(key, seen, { claimant, because: 'claimed', decision })
    })
  }

  async #carryOut(
    key: AgentKey,
    seen: SeenInEtcd,
    { decision, ...granting }: Granting & { readonly decision: Decision }
  ): Promise<LeaseAnswer | typeof AGAIN> {
    switch (decision.kind) {
      case 'refuse':
        return { kind: 'refused', heldBy: decision.heldBy }
      case 'keep':
        return (await this.#keep(key, seen)) ? { kind: 'held', epoch: decision.epoch } : AGAIN
      case 'grant':
        return this.#grant(key, seen, { ...granting, epoch: decision.epoch })
    }
  }

  async #keep(key: AgentKey, { record, lease, unchanged }: SeenInEtcd): Promise<boolean> {
    const { etcd, keepAlives, presence, ttlMs } = this.#options
    if (lease !== undefined) return keepAlives.renew(lease)
    // It outlived its lease of etcd because no relay was there to be asked.
    const fresh = await etcd.grant(ttlMs)
    const { succeeded } = await etcd.txn({
      compare: [presence.condition, ...unchanged],
      success: [write(KEYS.live(key), record?.holder, fresh)]
    })
    if (!succeeded) {
      etcd.revoke(fresh)
      await this.#again()
    }
    return succeeded
  }

  async #grant(
    key: AgentKey,
    seen: SeenInEtcd,
    { claimant, because, takeKey, epoch }: Granting & { readonly epoch: number }
  ): Promise<LeaseAnswer | typeof AGAIN> {
    const { etcd, presence, clock, ttlMs, onChange } = this.#options
    const { record } = seen
    const holder: Holder = { ...claimant, epoch, acquiredAtMs: clock.wallMs() }
    const next: AgentRecord = { holder, state: 'held', takes: withTake(record?.takes ?? [], takeKey) }
    const lease = await etcd.grant(ttlMs)
    const { succeeded } = await etcd.txn({
      compare: [presence.condition, ...seen.unchanged],
      success: [write(KEYS.record(key), next), write(KEYS.live(key), holder, lease)]
    })
    if (!succeeded) {
      etcd.revoke(lease)
      return this.#again()
    }
    etcd.revoke(seen.lease)
    const ended = record?.state === 'held' && !seen.live ? 'lapsed' : record?.state
    const from = record === undefined || ended === undefined ? undefined : { ...record.holder, state: ended }
    onChange({ ...key, because, from, to: holder })
    return { kind: 'held', epoch }
  }

  /** Perhaps it was our own presence that was missing. */
  async #again(): Promise<typeof AGAIN> {
    const { etcd, presence } = this.#options
    if ((await etcd.get(presence.key)) === undefined) await presence.register()
    return AGAIN
  }
}

function chunksOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size)
  )
}
