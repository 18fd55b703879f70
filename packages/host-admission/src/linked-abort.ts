/** An AbortSignal of our own that follows a caller's, and leaves no listener on it. */
export class LinkedAbort {
  readonly #controller = new AbortController()
  readonly #source: AbortSignal | undefined
  readonly #onAbort = () => this.#controller.abort(this.#source?.reason)

  constructor(source: AbortSignal | undefined) {
    this.#source = source
    if (source?.aborted === true) this.#onAbort()
    source?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason)
  }

  unlink(): void {
    this.#source?.removeEventListener('abort', this.#onAbort)
  }
}
