/**
 * Agents that were handed over a moment ago: for 30 s only their successor may have them (R5). What this instance handed
 * over is kept in memory, where no disk can lose it, and as the hold file, where every instance sees it. A take-over that
 * a person starts, here or for this instance elsewhere, ends a hold.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { type LeaseStore, leaseKey } from '@agentmux/lease-store'
import { type AdviceOptions, type TakenOverRefusal, takenOverRefusal } from '@agentmux/refusals'
import {
  changeHolds,
  hasExpiredHold,
  holdFor,
  isSameHold,
  readHold,
  readHolds,
  type Successor
} from './hold-file.js'
import { type HandoverHold, HOLD_MS } from './hold-refuses.js'
import { Reservation } from './reservation.js'

export interface HandoverHoldsOptions {
  readonly store: LeaseStore
  /** Told of a hold file that could not be written, for the log: other instances then do not know of the hold. */
  readonly onFault?: (uid: string, fault: unknown) => void
}

export interface PlacedHold {
  /** Takes this hold down again, because nothing was handed over. What was placed since stays, and what stood before counts again. */
  withdraw(): void
  /** The same where whoever asked has gone: what they had reserved for themselves goes too. */
  drop(): void
}

interface Hold {
  readonly untilBootMs: number
  readonly takenBy: Holder
}

export class HandoverHolds {
  readonly #store: LeaseStore
  readonly #onFault: (uid: string, fault: unknown) => void
  readonly #holds = new Map<string, Hold>()
  /** What was reserved here and not withdrawn. */
  readonly #reservations = new Map<string, Set<Reservation>>()

  constructor(options: HandoverHoldsOptions) {
    this.#store = options.store
    this.#onFault = options.onFault ?? (() => {})
  }

  /**
   * To be called before the lease is given up. It stands above any hold from before; what the successor has reserved for
   * itself is renewed by it, for the one process that it may name.
   */
  holdAfterHandover(uid: string, successor: Successor): PlacedHold {
    const key = leaseKey(uid)
    this.#dropExpired()
    const before = this.#holds.get(key)
    const hold = { untilBootMs: this.#nowMs() + HOLD_MS, takenBy: this.#holderOf(successor) }
    this.#holds.set(key, hold)
    let placed = holdFor(this.#store, successor)
    let reserved: HandoverHold | undefined
    this.#change(key, (live) => {
      reserved = live.find((one) => isFor(one, successor))
      if (reserved !== undefined) placed = { ...reserved, until_boot_ms: placed.until_boot_ms }
      return [placed, ...live.filter((one) => one !== reserved)]
    })
    const takeDown = (instead: readonly HandoverHold[]) => {
      if (this.#holds.get(key) === hold) {
        this.#holds.delete(key)
        if (before !== undefined) this.#holds.set(key, before)
      }
      const isPlaced = (one: HandoverHold) => isSameHold(one, placed)
      if (!readHolds(this.#store, key).some(isPlaced)) return
      this.#change(key, (live) => live.flatMap((one) => (isPlaced(one) ? instead : [one])))
    }
    return {
      withdraw: () => takeDown(reserved === undefined ? [] : [reserved]),
      drop: () => takeDown([])
    }
  }

  /** For a take-over that begins, and that a person has started: not for the holder. Reads only; `place` reserves. */
  newReservation(uid: string, successor: Successor): Reservation {
    const key = leaseKey(uid)
    const of = this.#reservations.get(key) ?? new Set()
    const home = {
      store: this.#store,
      onFault: (fault: unknown) => this.#onFault(key, fault),
      setAside: () => this.#setAside(key),
      onWithdrawn: (withdrawn: Reservation) => {
        of.delete(withdrawn)
        if (of.size === 0 && this.#reservations.get(key) === of) this.#reservations.delete(key)
      }
    }
    const reservation = new Reservation(home, key, successor)
    this.#reservations.set(key, of.add(reservation))
    return reservation
  }

  /** Keeps the agent for whoever takes it over, 30 s from now, above whatever kept it for somebody else. */
  reserve(uid: string, successor: Successor): Reservation {
    const reservation = this.newReservation(uid, successor)
    reservation.place()
    return reservation
  }

  /** Ends what was reserved here: the agent is claimed, or the take-over came to nothing. What others reserved stays. */
  withdrawReservation(uid: string): void {
    for (const reservation of this.#reservations.get(leaseKey(uid)) ?? []) reservation.withdraw()
  }

  /** Ends whatever keeps the agent from being driven here, whoever placed it. Only for a take-over that a person started. */
  clearHandoverHold(uid: string): void {
    const key = leaseKey(uid)
    this.#holds.delete(key)
    if (readHolds(this.#store, key).length > 0) this.#change(key, () => [])
    else this.dropExpired(key)
  }

  /** Removes a hold file that keeps the agent for nobody any more. For whoever has just claimed it: a look changes nothing (R6). */
  dropExpired(uid: string): void {
    if (hasExpiredHold(this.#store, uid)) this.#change(uid, (live) => live)
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

  /** A file that cannot be written is no reason not to go on: the hold is then known here alone. */
  #change(uid: string, change: (live: readonly HandoverHold[]) => readonly HandoverHold[]): void {
    try {
      changeHolds(this.#store, uid, change)
    } catch (fault) {
      this.#onFault(uid, fault)
    }
  }

  /** What we remember of our own hand-over; returns what puts it back, unless another was made since. */
  #setAside(uid: string): () => void {
    const hold = this.#holds.get(uid)
    this.#holds.delete(uid)
    return () => {
      if (hold !== undefined && !this.#holds.has(uid)) this.#holds.set(uid, hold)
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

function isFor(hold: HandoverHold, { channel, version, ownerBootId }: Successor): boolean {
  const ofChannel = hold.to_channel === channel && hold.to_version === version
  return ofChannel && (ownerBootId === undefined || ownerBootId === hold.to_boot_id)
}
