/**
 * What one take-over keeps for itself while it is under way and afterwards. It stands above whatever kept the agent before,
 * and only it is taken down again: what others have reserved since, or had before, is theirs. Of several at once one is
 * confirmed; the others learn who has it.
 */

import type { LeaseStore } from '@agentmux/lease-store'
import { randomUuid } from '@agentmux/lease-store'
import { changeHolds, holdFor, isSameHold, readHolds, type Successor } from './hold-file.js'
import type { HandoverHold } from './hold-refuses.js'

export type ReservedOr =
  | { readonly kind: 'reserved' }
  /** Somebody else was faster: the agent is kept for them. */
  | { readonly kind: 'outrun'; readonly by: Successor }

export interface ReservationHome {
  readonly store: LeaseStore
  /** Told of a file that could not be written: the agent is then not kept. */
  readonly onFault: (fault: unknown) => void
  /** Ends what this process remembers of a hold of its own; returns what puts it back. */
  readonly setAside: () => () => void
  /** It is withdrawn, and will keep nothing any more. */
  readonly onWithdrawn: (reservation: Reservation) => void
}

export class Reservation {
  readonly #home: ReservationHome
  readonly #uid: string
  readonly #successor: Successor
  readonly #id = randomUuid()
  /** What stood when the take-over began: a person may set it aside. */
  readonly #known: readonly HandoverHold[]
  #putBack: () => void = () => {}

  /** Reads only: nothing is kept yet. To be made when the take-over begins. */
  constructor(home: ReservationHome, uid: string, successor: Successor) {
    this.#home = home
    this.#uid = uid
    this.#successor = successor
    this.#known = readHolds(home.store, uid)
  }

  /** Before anybody lets go. Whoever else has begun to reserve it since we began comes first. */
  place(): ReservedOr {
    const placed = this.#change((live) => {
      const [first] = live
      if (first !== undefined && !this.#isKnown(first) && !this.#servesUs(first)) return live
      return [this.#fresh(), ...live.filter((hold) => !this.#isOurs(hold))]
    })
    const outcome = this.#outcome(placed)
    if (outcome.kind === 'reserved') this.#putBack = this.#home.setAside()
    return outcome
  }

  /**
   * Once the agent is free: 30 s from here on, and for us alone; unless it has been reserved above us meanwhile.
   * `letGoForUs`: its holder said that it let go because we asked; then it has decided against other channels.
   */
  confirm({ letGoForUs }: { letGoForUs: boolean }): ReservedOr {
    const kept = this.#change((live) => {
      const [first] = live
      const decided = letGoForUs && first !== undefined && !this.#isOfOurChannel(first)
      const yields = first !== undefined && !this.#isOurs(first) && !this.#servesUs(first) && !decided
      return yields ? live : [this.#fresh()]
    })
    return this.#outcome(kept)
  }

  /** It came to nothing, or the agent is claimed. What its holder has placed for us goes as well. */
  withdraw(): void {
    this.#putBack()
    this.#putBack = () => {}
    this.#home.onWithdrawn(this)
    const gone = (hold: HandoverHold) => this.#isOurs(hold) || this.#placedForUs(hold)
    // Most often nothing of ours is left: then nothing is written, nor locked.
    if (!readHolds(this.#home.store, this.#uid).some(gone)) return
    this.#change((live) => live.filter((hold) => !gone(hold)))
  }

  #fresh(): HandoverHold {
    return { ...holdFor(this.#home.store, this.#successor), reservation: this.#id }
  }

  #isOurs({ reservation }: HandoverHold): boolean {
    return reservation === this.#id
  }

  /** Where the disk fails there is no other either: what we know is that nobody was faster. */
  #outcome(holds: readonly HandoverHold[] | undefined): ReservedOr {
    const first = holds?.[0]
    if (first === undefined || this.#isOurs(first) || this.#servesUs(first)) return { kind: 'reserved' }
    const { to_channel: channel, to_version: version, to_boot_id } = first
    return {
      kind: 'outrun',
      by: { channel, version, ...(to_boot_id === '' ? {} : { ownerBootId: to_boot_id }) }
    }
  }

  #isKnown(hold: HandoverHold): boolean {
    return this.#known.some((one) => isSameHold(one, hold))
  }

  #isOfOurChannel(hold: HandoverHold): boolean {
    return hold.to_channel === this.#successor.channel && hold.to_version === this.#successor.version
  }

  /** Somebody's, and it keeps the agent for us just as well. */
  #servesUs(hold: HandoverHold): boolean {
    const sameProcess = hold.to_boot_id === (this.#successor.ownerBootId ?? '')
    return (this.#isOfOurChannel(hold) && sameProcess) || this.#placedForUs(hold)
  }

  /** By the holder, since we began: it knows us by our channel and version, and builds differ in what they keep of it. */
  #placedForUs(hold: HandoverHold): boolean {
    return hold.reservation === undefined && this.#isOfOurChannel(hold) && !this.#isKnown(hold)
  }

  #change(
    change: (live: readonly HandoverHold[]) => readonly HandoverHold[]
  ): readonly HandoverHold[] | undefined {
    const { store, onFault } = this.#home
    try {
      // Nobody may have held anything here yet.
      store.createFolder()
      return changeHolds(store, this.#uid, change)
    } catch (fault) {
      onFault(fault)
      return undefined
    }
  }
}
