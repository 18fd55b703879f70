/**
 * How processes that want one key keep out of each other's way. Whoever has just given it up lets those who wait go first,
 * as many as there are: running already, it would be faster every time. Whoever was woken by a release and came too late
 * rests for a moment before it listens again: a crowd that is woken all at once costs more than the claim it is woken for.
 * Only manners, and only among ours: who holds the key is decided under its lock.
 */

/** Past this the others have had their chance. */
const RECENT_MS = 20
/** About what a turn takes: others are woken, one of them claims, and gives it up. */
const TURN_MS = 1.7
/** Never longer, however many there are. */
const MAX_PAUSE_MS = 20
/** A release is then still noticed within 10 ms. */
const MAX_REST_MS = 8
/** Keys remembered at the same time; to forget one only makes us less polite. */
const MAX_KEYS = 1_024

interface Manners {
  /** The last epoch that was granted here; 0 if none. */
  epoch: number
  /** How many turns others had between our last two, as far as is known: about as many as there are of them. */
  others: number
  releasedMs: number
  /** Woken by a release, and not answered since. */
  woken: boolean
  /** How often in a row somebody else was faster after a release. */
  tooLate: number
}

export class Courtesy {
  readonly #keys = new Map<string, Manners>()

  granted(key: string, epoch: number): void {
    const manners = this.#of(key)
    manners.others = manners.epoch > 0 ? Math.max(0, epoch - manners.epoch - 1) : 0
    manners.epoch = epoch
    manners.woken = false
    manners.tooLate = 0
  }

  refused(key: string): void {
    const manners = this.#of(key)
    manners.others = Math.max(1, manners.others)
    if (manners.woken) manners.tooLate += 1
    manners.woken = false
  }

  released(key: string): void {
    const manners = this.#keys.get(key)
    if (manners !== undefined) manners.releasedMs = performance.now()
  }

  woken(key: string): void {
    this.#of(key).woken = true
  }

  /** How long to let others go first before a claim, milliseconds. Once for each release. */
  pauseBeforeClaimMs(key: string): number {
    const manners = this.#keys.get(key)
    if (manners === undefined || performance.now() - manners.releasedMs > RECENT_MS) return 0
    manners.releasedMs = Number.NEGATIVE_INFINITY
    return Math.min(Math.ceil(manners.others * TURN_MS), MAX_PAUSE_MS)
  }

  /** How long to rest before listening for a release, milliseconds. */
  restMs(key: string): number {
    const tooLate = this.#keys.get(key)?.tooLate ?? 0
    if (tooLate === 0) return 0
    // At random, so that those who were woken together are not the next time.
    return Math.ceil(Math.min(2 ** tooLate, MAX_REST_MS) * (0.5 + Math.random() / 2))
  }

  #of(key: string): Manners {
    let manners = this.#keys.get(key)
    if (manners === undefined) {
      if (this.#keys.size >= MAX_KEYS) this.#keys.clear()
      manners = { epoch: 0, others: 0, releasedMs: Number.NEGATIVE_INFINITY, woken: false, tooLate: 0 }
      this.#keys.set(key, manners)
    }
    return manners
  }
}
