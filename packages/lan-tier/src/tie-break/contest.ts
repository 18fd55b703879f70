/**
 * One agent, driven here and perhaps elsewhere too: what to do after each look at the others. Keeps true that it yields
 * only to a holder that, in a second look, still holds, wins, and is not about to yield itself. Pure: waits and questions
 * are for whoever drives it.
 */
import type { LanHolder, LanLook } from '../holdings/lan-look.js'
import { nameKey } from '../holdings/peer-name.js'
import type { Contender } from './contender.js'
import { decide, rankOf } from './decide.js'
import { retryWaitMs, SECOND_LOOK_SLOTS, secondLookWaitMs } from './second-look.js'

export type ContestOutcome =
  /** Nobody who would win is left. `holders`: those who drive it too and have to yield to us. */
  | { readonly kind: 'keep'; readonly holders: readonly LanHolder[] }
  | { readonly kind: 'yield'; readonly to: LanHolder }
  /** Kept for now, since it could not be found out: nobody answered, or a winner could not be confirmed (R7, R8). */
  | {
      readonly kind: 'unknown'
      readonly because: 'no-answer' | 'unconfirmed'
      readonly holders: readonly LanHolder[]
    }

export type ContestStep =
  /** Wait, then ask this one peer again. From the question on until the next step, answer others with `yielding`. */
  | { readonly kind: 'look-again'; readonly at: LanHolder; readonly waitMs: number }
  | { readonly kind: 'done'; readonly outcome: ContestOutcome }

/** How often one winner is asked again when it does not answer, or is about to yield. */
const TRIES = 2
/** How many winners are asked in turn. Peers that answer once and then hang cannot hold a re-check up for longer. */
const MAX_WINNERS = 3

export class Contest {
  readonly #mine: Contender
  readonly #random: () => number
  #others: LanHolder[] = []
  #winner: LanHolder | undefined
  #tries = 0
  #winners = 0
  #unconfirmed = false

  /** `random`: 0 up to 1, as Math.random. */
  constructor(mine: Contender, random: () => number) {
    this.#mine = mine
    this.#random = random
  }

  /** The first look: at everybody. */
  seen(look: LanLook): ContestStep {
    this.#others = [...look.holders]
    if (this.#others.length === 0 && look.answered === 0 && look.silent.length > 0) {
      return done({ kind: 'unknown', because: 'no-answer', holders: [] })
    }
    const rank = rankOf<Contender>(this.#mine, this.#others, SECOND_LOOK_SLOTS)
    return this.#next(secondLookWaitMs(rank, this.#others.length + 1, this.#random()))
  }

  /** A look again: at the one peer that `look-again` named. */
  seenAgain(look: LanLook): ContestStep {
    const asked = this.#winner
    if (asked === undefined) throw new TypeError('nobody was to be asked again')
    const now = look.holders.find(({ peer }) => nameKey(peer) === nameKey(asked.peer))
    if (now === undefined || now.yielding) {
      const gone = now === undefined && look.answered > 0
      if (!gone && this.#tries < TRIES) return this.#again(asked)
      this.#unconfirmed ||= !gone
      this.#others = this.#others.filter((each) => each !== asked)
      return this.#next(0)
    }
    this.#others = this.#others.map((each) => (each === asked ? now : each))
    const winner = this.#decide()
    if (winner === now) return done({ kind: 'yield', to: now })
    return this.#next(0)
  }

  #decide(): LanHolder | undefined {
    const winner = decide<Contender>([this.#mine, ...this.#others])
    return winner === this.#mine ? undefined : (winner as LanHolder)
  }

  #next(waitMs: number): ContestStep {
    const winner = this.#decide()
    if (winner === undefined || this.#winners >= MAX_WINNERS) {
      const holders = this.#others
      if (winner !== undefined || this.#unconfirmed) {
        return done({ kind: 'unknown', because: 'unconfirmed', holders })
      }
      return done({ kind: 'keep', holders })
    }
    this.#winner = winner
    this.#winners++
    this.#tries = 1
    return { kind: 'look-again', at: winner, waitMs }
  }

  #again(asked: LanHolder): ContestStep {
    this.#tries++
    return { kind: 'look-again', at: asked, waitMs: retryWaitMs(this.#random()) }
  }
}

function done(outcome: ContestOutcome): ContestStep {
  return { kind: 'done', outcome }
}
