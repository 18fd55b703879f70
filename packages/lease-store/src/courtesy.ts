/**
 * How processes that want one key keep out of each other's way. Whoever has just given it up lets those who wait go first:
 * running already, it would be faster every time. Whoever was woken by a release and came too late rests for a moment
 * before it listens again: a crowd that is woken all at once costs more than the claim it is woken for. Only manners,
 * and only among ours: who holds the key is decided under its lock.
 */

/** Past this the others have had their chance. */
const RECENT_MS = 20
/** Enough for others to be woken, on a machine that is busy, too. */
const LET_GO_FIRST_MS = 3
/** A release is then still noticed within 10 ms. */
const MAX_REST_MS = 8
/** Keys remembered at the same time; to forget one only makes us less polite. */
const MAX_KEYS = 1_024

interface Manners {
  /** The last epoch that was granted here; 0 if none. */
  epoch: number
  /** Whether somebody else had the key since. */
  wanted: boolean
  releasedMs: number
  /** Woken by a release, and not answered since. */
  woken: boolean
  /** How often in a row somebody else was faster after a release. */
  tooLate: number
}

export class Courtesy {
  readonly #keys = new Map<string, Manners>()

  granted(key: string, epoch: number): void {
    const before = this.#of(key)
    before.wanted = before.epoch > 0 && epoch > before.epoch + 1
    before.epoch = epoch
    before.woken = false
    before.tooLate = 0
  }

  refused(key: string): void {
    const manners = this.#of(key)
    manners.wanted = true
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

  /** How long to let others go first before a claim, milliseconds. */
  pauseBeforeClaimMs(key: string): number {
    const manners = this.#keys.get(key)
    if (manners === undefined || !manners.wanted) return 0
    return performance.now() - manners.releasedMs <= RECENT_MS ? LET_GO_FIRST_MS : 0
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
      manners = { epoch: 0, wanted: false, releasedMs: Number.NEGATIVE_INFINITY, woken: false, tooLate: 0 }
      this.#keys.set(key, manners)
    }
    return manners
  }
}
