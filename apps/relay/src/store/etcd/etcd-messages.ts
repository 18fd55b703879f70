/**
 * Queues in etcd: a message is under `queued` or under `won`, and one transaction moves it, on the condition that its
 * winner still holds the agent. A call whose answer was lost finds its own mark when it looks again.
 */
import { randomUUID } from 'node:crypto'
import type { IKeyValue } from 'etcd3'
import type { AgentKey } from '../../model/agent-key.js'
import { liveHolder } from '../../model/decide.js'
import { type Identity, isSameHolder } from '../../model/holder.js'
import { type Message, type NewMessage, newMessageId } from '../../model/message.js'
import type { Arrivals } from '../arrivals.js'
import type { AckAnswer, AckedBy, InjectAnswer, MessageKeeper, PendingAnswer } from '../relay-store.js'
import type { StoreLimits } from '../store-limits.js'
import { seeAgent } from './agent-reads.js'
import { AGAIN, attempts } from './attempts.js'
import { type EtcdClient, isLeaseGone } from './etcd-client.js'
import { KEYS } from './etcd-keys.js'
import type { Presence } from './presence.js'
import { Retention } from './retention.js'
import { found, isAbsent, isPresent, isUnchanged, read, remove, valueIn, write } from './txn-parts.js'

export interface EtcdMessagesOptions {
  readonly etcd: EtcdClient
  readonly presence: Presence
  readonly arrivals: Arrivals
  readonly limits: StoreLimits
}

interface Queued {
  readonly message: Message
  /** Of acks that were given back, and of what gave them back: a late copy of either changes nothing. */
  readonly over?: readonly string[]
}

interface Won extends Queued {
  readonly by: Identity
  readonly requestKey?: string | undefined
  /** Of the very call, also where the client gave no key. */
  readonly call: string
}

/** Two keys are read and written for each, and etcd takes 128 in one transaction by default. */
const IDS_AT_ONCE = 40
/** No copy is later than this many calls on one message. */
const MOST_OVER = 64

export class EtcdMessages implements MessageKeeper {
  readonly #options: EtcdMessagesOptions
  readonly #queued: Retention
  readonly #won: Retention

  constructor(options: EtcdMessagesOptions) {
    this.#options = options
    this.#queued = new Retention(options.etcd, options.limits.keepPendingMs)
    this.#won = new Retention(options.etcd, options.limits.keepAckedMs)
  }

  inject(key: AgentKey, message: NewMessage, requestKey: string | undefined): Promise<InjectAnswer> {
    const { etcd, limits } = this.#options
    const mark = KEYS.injected(key, requestKey ?? randomUUID())
    const id = newMessageId(message)
    return this.#attempts<InjectAnswer>(async () => {
      const before = await etcd.get(mark)
      if (before !== undefined) return { kind: 'queued', id: valueIn<{ id: string }>(before).id }
      if ((await etcd.count(KEYS.queue(key))) >= limits.queue) return { kind: 'full' }
      const [queuedLease, wonLease] = await Promise.all([this.#queued.lease(), this.#won.lease()])
      const queued: Queued = { message: { ...message, id } }
      const { succeeded } = await etcd.txn({
        compare: [isAbsent(mark)],
        success: [write(mark, { id }, wonLease), write(KEYS.queued(key, id), queued, queuedLease)]
      })
      return succeeded ? { kind: 'queued', id } : AGAIN
    })
  }

  pending(key: AgentKey, claimant: Identity): Promise<PendingAnswer> {
    const { etcd, limits } = this.#options
    return attempts<PendingAnswer>(async () => {
      const { seen } = await seeAgent(etcd, key)
      const heldBy = liveHolder(seen)
      if (heldBy === undefined || !isSameHolder(heldBy, claimant)) return { kind: 'not-holder', heldBy }
      const queued = await etcd.page(KEYS.queue(key), { limit: limits.pendingPage })
      return { kind: 'pending', messages: queued.map((kv) => valueIn<Queued>(kv).message) }
    })
  }

  async ack(key: AgentKey, ids: readonly string[], by: AckedBy): Promise<AckAnswer> {
    const call = randomUUID()
    const won: string[] = []
    for (let at = 0; at === 0 || at < ids.length; at += IDS_AT_ONCE) {
      const answer = await this.#ackSome(key, ids.slice(at, at + IDS_AT_ONCE), { ...by, call })
      if (answer.kind === 'won') won.push(...answer.ids)
      else if (won.length === 0 && at + IDS_AT_ONCE >= ids.length) return answer
    }
    return { kind: 'won', ids: won }
  }

  giveBack(key: AgentKey, id: string, by: AckedBy): Promise<boolean> {
    const { etcd } = this.#options
    const [queuedKey, wonKey] = [KEYS.queued(key, id), KEYS.won(key, id)]
    return this.#attempts(async () => {
      const [queued, kv] = found(await etcd.txn({ compare: [], success: [read(queuedKey), read(wonKey)] }))
      if (queued !== undefined) return true
      if (kv === undefined) return false
      const won = valueIn<Won>(kv)
      // Won anew since this call was first made.
      if (isOver(won, by)) return true
      if (!isSameHolder(won.by, by)) return false
      const calls = [won.requestKey, by.requestKey].flatMap((call) => call ?? [])
      const over = [...(won.over ?? []), ...calls].slice(-MOST_OVER)
      const back: Queued = { message: won.message, over }
      const { succeeded } = await etcd.txn({
        compare: [isUnchanged(wonKey, kv), isAbsent(queuedKey)],
        success: [remove(wonKey), write(queuedKey, back, await this.#queued.lease())]
      })
      return succeeded ? true : AGAIN
    })
  }

  onArrival(listener: (key: AgentKey) => void): () => void {
    return this.#options.arrivals.add(listener)
  }

  #ackSome(
    key: AgentKey,
    ids: readonly string[],
    by: AckedBy & { readonly call: string }
  ): Promise<AckAnswer> {
    const { etcd, presence } = this.#options
    const keys = ids.flatMap((id) => [KEYS.queued(key, id), KEYS.won(key, id)])
    return this.#attempts<AckAnswer>(async () => {
      const { seen, others } = await seeAgent(etcd, key, keys)
      const heldBy = liveHolder(seen)
      const isHolder = heldBy !== undefined && isSameHolder(heldBy, by)
      const before = ids.filter((_, index) => wasWonBy(others[index * 2 + 1], by))
      if (!isHolder && before.length === 0) return { kind: 'not-holder', heldBy }
      const free = ids.flatMap((id, index) => {
        const kv = others[index * 2]
        return isHolder && kv !== undefined && !isOver(valueIn<Queued>(kv), by) ? [{ id, kv }] : []
      })
      const ours = new Set([...before, ...free.map(({ id }) => id)])
      const answer: AckAnswer = { kind: 'won', ids: ids.filter((id) => ours.has(id)) }
      if (free.length === 0) return answer
      const lease = await this.#won.lease()
      const { succeeded } = await etcd.txn({
        compare: [
          presence.condition,
          ...seen.unchanged,
          ...(seen.lease === undefined ? [isPresent(KEYS.grace)] : []),
          ...free.map(({ id, kv }) => isUnchanged(KEYS.queued(key, id), kv))
        ],
        success: free.flatMap(({ id, kv }) => [
          remove(KEYS.queued(key, id)),
          write(KEYS.won(key, id), wonFrom(kv, by), lease)
        ])
      })
      return succeeded ? answer : AGAIN
    })
  }

  /** A shared lease of etcd that has gone is replaced by the next attempt. */
  #attempts<T>(attempt: () => Promise<T | typeof AGAIN>): Promise<T> {
    return attempts(async () => {
      try {
        return await attempt()
      } catch (error) {
        if (isLeaseGone(error)) {
          this.#queued.forget()
          this.#won.forget()
        }
        throw error
      }
    })
  }
}

function isOver({ over }: Queued, { requestKey }: AckedBy): boolean {
  return requestKey !== undefined && over?.includes(requestKey) === true
}

function wonFrom(kv: IKeyValue, { instance, install, requestKey, call }: AckedBy & { call: string }): Won {
  return { ...valueIn<Queued>(kv), by: { instance, install }, requestKey, call }
}

function wasWonBy(kv: IKeyValue | undefined, by: AckedBy & { readonly call: string }): boolean {
  if (kv === undefined) return false
  const won = valueIn<Won>(kv)
  if (won.call === by.call) return true
  return by.requestKey !== undefined && won.requestKey === by.requestKey && isSameHolder(won.by, by)
}
