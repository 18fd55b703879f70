/**
 * Agents that this instance handed over a moment ago: for 30 s it does not take them back by itself (R5). Kept in memory,
 * where no disk can lose it, and as the hold file, where every instance sees it. A take-over that a person starts here
 * ends a hold.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { type LeaseStore, leaseKey } from '@agentmux/lease-store'
import { type AdviceOptions, type TakenOverRefusal, takenOverRefusal } from '@agentmux/refusals'
import { clearHold, readHold, type Successor, writeHold } from './hold-file.js'
import { HOLD_MS } from './hold-refuses.js'

export interface HandoverHoldsOptions {
  readonly store: LeaseStore
  /** Told of a hold file that could not be written, for the log: other instances then do not know of the hold. */
  readonly onFault?: (uid: string, fault: unknown) => void
}

export interface PlacedHold {
  /** Takes this hold down again, because nothing was handed over. One that was placed since stays. */
  withdraw(): void
}

interface Hold {
  readonly untilBootMs: number
  readonly takenBy: Holder
}

export class HandoverHolds {
  readonly #store: LeaseStore
  readonly #onFault: (uid: string, fault: unknown) => void
  readonly #holds = new Map<string, Hold>()

  constructor(options: HandoverHoldsOptions) {
    this.#store = options.store
    this.#onFault = options.onFault ?? (() => {})
  }

  /** To be called before the lease is given up. A hold from before is replaced, its time with it. */
  holdAfterHandover(uid: string, successor: Successor): PlacedHold {
    const key = leaseKey(uid)
    this.#dropExpired()
    const hold = { untilBootMs: this.#nowMs() + HOLD_MS, takenBy: this.#holderOf(successor) }
    this.#holds.set(key, hold)
    let text: string | undefined
    try {
      text = writeHold(this.#store, key, successor)
    } catch (fault) {
      this.#onFault(key, fault)
    }
    return {
      withdraw: () => {
        if (this.#holds.get(key) === hold) this.#holds.delete(key)
        if (text !== undefined) clearHold(this.#store, key, text)
      }
    }
  }

  /** Ends whatever keeps the agent from being driven here, whoever placed it. Only for a take-over that a person started. */
  clearHandoverHold(uid: string): void {
    this.#holds.delete(leaseKey(uid))
    clearHold(this.#store, uid)
  }

  /** Why the agent must not be driven here now; undefined if nothing is held. Writes nothing. */
  refusalFor(agent: AgentRef, advice: AdviceOptions = {}): TakenOverRefusal | undefined {
    const hold = this.#liveHold(agent.uid) ?? this.#holdOnDisk(agent.uid)
    if (hold === undefined) return undefined
    const retryAfterMs = hold.untilBootMs - this.#nowMs()
    return takenOverRefusal(agent, hold.takenBy, this.#store.clock.wallMs(), { ...advice, retryAfterMs })
  }

  #liveHold(uid: string): Hold | undefined {
    const hold = this.#holds.get(uid)
    if (hold === undefined || hold.untilBootMs > this.#nowMs()) return hold
    this.#holds.delete(uid)
    return undefined
  }

  #holdOnDisk(uid: string): Hold | undefined {
    const hold = readHold(this.#store, uid)
    if (hold === undefined) return undefined
    const takenBy = this.#holderOf({ channel: hold.toChannel, version: hold.toVersion })
    return { untilBootMs: hold.untilBootMs, takenBy }
  }

  #dropExpired(): void {
    for (const uid of this.#holds.keys()) this.#liveHold(uid)
  }

  #holderOf({ channel, version }: Successor): Holder {
    return {
      place: 'this-host',
      hostname: this.#store.host.hostname,
      channel,
      version,
      pid: 0,
      acquiredAtMs: 0,
      epoch: 0,
      blockId: ''
    }
  }

  #nowMs(): number {
    return this.#store.clock.bootMs()
  }
}
