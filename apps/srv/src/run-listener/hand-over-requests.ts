/**
 * What others have asked of a `run` about its agent, and what they are answered. Keeps true that the reservation for the
 * successor is up before anything is stopped, and comes down again where nothing was handed over or nobody waits for it
 * any more (R5).
 */
import type { HandoverHolds, PlacedHold } from '@agentmux/host-admission'
import { handingOverMessage } from '@agentmux/refusals'

/** For whom the agent is wanted. Empty where the one who asks did not say. */
export interface Successor {
  readonly channel: string
  readonly version: string
}

export type HandOverAnswer =
  | { readonly kind: 'let-go' }
  /** The agent is not held here: never was, or was lost meanwhile. */
  | { readonly kind: 'not-held' }
  /** `message`: why not, for the person who asks. */
  | { readonly kind: 'kept'; readonly message: string }

export interface HandOverRequestsOptions {
  readonly holds: HandoverHolds
  readonly uid: string
}

export class HandOverRequests {
  /** The first request, which is to be followed. */
  readonly asked: Promise<Successor>
  readonly #options: HandOverRequestsOptions
  readonly #answered: Promise<HandOverAnswer>
  readonly #waiting = new Set<AbortSignal>()
  #follow: (successor: Successor) => void = () => {}
  #settle: (answer: HandOverAnswer) => void = () => {}
  #successor: Successor | undefined
  #hold: PlacedHold | undefined
  #isOver = false

  constructor(options: HandOverRequestsOptions) {
    this.#options = options
    this.asked = new Promise((resolve) => {
      this.#follow = resolve
    })
    this.#answered = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  /** Resolves once it is known what came of it. `gone`: aborted if the one who asks does not wait any more. */
  ask(successor: Successor, gone: AbortSignal): Promise<HandOverAnswer> {
    if (this.#isOver) return this.#answered
    const first = this.#successor
    if (first !== undefined && !isSame(first, successor)) {
      return Promise.resolve({ kind: 'kept', message: handingOverMessage(first.channel) })
    }
    this.#waiting.add(gone)
    if (first === undefined) {
      this.#successor = successor
      this.#hold = this.#options.holds.holdAfterHandover(this.#options.uid, successor)
      this.#follow(successor)
    }
    return this.#answered
  }

  /** What came of it, for everybody who waits. Only the first answer counts. */
  answer(answer: HandOverAnswer): void {
    if (this.#isOver) return
    this.#isOver = true
    const isWanted = [...this.#waiting].some((gone) => !gone.aborted)
    if (!isWanted) this.#hold?.drop()
    else if (answer.kind !== 'let-go') this.#hold?.withdraw()
    this.#settle(answer)
  }
}

function isSame(one: Successor, other: Successor): boolean {
  return one.channel === other.channel && one.version === other.version
}
