/** The loss of one lease: recorded once; the first reason is the one that every later check repeats. */
import type { Refusal } from '@agentmux/refusals'

export class LossRecord {
  readonly #controller = new AbortController()
  readonly #onError: (error: unknown) => void
  #refusal: Refusal | undefined
  #onLost: ((refusal: Refusal) => void) | undefined

  /** `onError` gets what a listener throws: it must not keep the rest of a fence from being done. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** Undefined while nothing is lost. */
  get refusal(): Refusal | undefined {
    return this.#refusal
  }

  /** Aborted at the loss, with the refusal as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** `onLost` is called once, at the loss; never if it has happened already. */
  listen(onLost: (refusal: Refusal) => void): void {
    if (this.#refusal === undefined) this.#onLost = onLost
  }

  record(refusal: Refusal): void {
    if (this.#refusal !== undefined) return
    this.#refusal = refusal
    this.#controller.abort(refusal)
    try {
      this.#onLost?.(refusal)
    } catch (error) {
      this.#onError(error)
    }
  }
}
