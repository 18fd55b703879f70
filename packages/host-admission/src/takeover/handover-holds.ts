/**
 * Agents that were handed over a moment ago: for 30 s only their successor may have them (R5). What this instance handed
 * over is kept in memory, where no disk can lose it, and as the hold file, where every instance sees it. A take-over that
 * a person starts, here or for this instance elsewhere, ends a hold.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { type LeaseStore, leaseKey } from '@agentmux/lease-store'
import { type AdviceOptions, type TakenOverRefusal, takenOverRefusal } from '@agentmux/refusals'
import { clearHold, readHold, type Successor, writeHold } from './hold-file.js'
import { HOLD_MS, type LiveHold } from './hold-refuses.js'

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

  /**
   * To be called before the lease is given up. A hold from before is replaced, its time with it; but where the successor
   * has reserved the agent for one process of its channel and version, it stays that process alone.
   */
  holdAfterHandover(uid: string, successor: Successor): PlacedHold {
    const key = leaseKey(uid)
    this.#dropExpired()
    const hold = { untilBootMs: this.#nowMs() + HOLD_MS, takenBy: this.#holderOf(successor) }
    this.#holds.set(key, hold)
    const text = this.#write(key, this.#asReserved(key, successor))
    return {
      withdraw: () => {
        if (this.#holds.get(key) === hold) this.#holds.delete(key)
        if (text !== undefined) clearHold(this.#store, key, text)
      }
    }
  }

  /**
   * Keeps the agent for whoever takes it over, 30 s from now, and ends whatever kept it for somebody else. For the one
   * that takes it over, not for the holder; only where a person started it.
   */
  reserve(uid: string, successor: Successor): void {
    const key = leaseKey(uid)
    this.#holds.delete(key)
    // Nobody may have held anything here yet.
    this.#write(key, successor, () => this.#store.createFolder())
  }

  /** Ends a hold that names this successor, whoever placed it: the take-over came to nothing. Any other stays. */
  withdrawReservation(uid: string, successor: Successor): void {
    if (this.#isFor(readHold(this.#store, uid), successor)) clearHold(this.#store, uid)
  }

  /** Ends whatever keeps the agent from being driven here, whoever placed it. Only for a take-over that a person started. */
  clearHandoverHold(uid: string): void {
    this.#holds.delete(leaseKey(uid))
    clearHold(this.#store, uid)
  }

  /** Why the agent must not be driven here now; undefined if nothing is held. Writes nothing. */
  refusalFor(agent: AgentRef, advice: AdviceOptions = {}): TakenOverRefusal | undefined {
    const hold = this.#holdAgainstUs(agent.uid)
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

  /** The file may be the later word: a person has taken the agent back, with the help of another process. */
  #holdAgainstUs(uid: string): Hold | undefined {
    const inMemory = this.#liveHold(uid)
    const onDisk = readHold(this.#store, uid)
    if (onDisk === undefined) return inMemory
    // The file has whole milliseconds.
    if (inMemory !== undefined && onDisk.untilBootMs < Math.floor(inMemory.untilBootMs)) return inMemory
    if (onDisk.forReader) return undefined
    const takenBy = this.#holderOf({ channel: onDisk.toChannel, version: onDisk.toVersion })
    return { untilBootMs: onDisk.untilBootMs, takenBy }
  }

  #asReserved(uid: string, successor: Successor): Successor {
    const before = readHold(this.#store, uid)
    if (successor.ownerBootId !== undefined || !this.#isFor(before, successor)) return successor
    return { ...successor, ownerBootId: before?.toBootId }
  }

  #isFor(hold: LiveHold | undefined, { channel, version }: Successor): boolean {
    return hold?.toChannel === channel && hold.toVersion === version
  }

  /** The text of the file; undefined if it could not be written. */
  #write(uid: string, successor: Successor, before: () => void = () => {}): string | undefined {
    try {
      before()
      return writeHold(this.#store, uid, successor)
    } catch (fault) {
      this.#onFault(uid, fault)
      return undefined
    }
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
