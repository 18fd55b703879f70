/** The panes that are just being opened: each can be given up by us, and is answered for the reason given then. */
import { comparableUid } from '@agentmux/host-admission'
import type { OpenResult } from './pane-answers.js'

interface Opening {
  readonly uid: string
  readonly abort: AbortController
  readonly done: Promise<OpenResult>
}

export class Openings {
  readonly #openings = new Set<Opening>()

  get count(): number {
    return this.#openings.size
  }

  get uids(): string[] {
    return [...this.#openings].map(({ uid }) => uid)
  }

  /** @throws the signal's reason; what `open` throws. */
  async run(
    uid: string,
    signal: AbortSignal | undefined,
    open: (signal: AbortSignal) => Promise<OpenResult>
  ): Promise<OpenResult> {
    const abort = new AbortController()
    const onAbort = () => abort.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const opening = { uid, abort, done: open(abort.signal) }
    this.#openings.add(opening)
    try {
      return await opening.done
    } catch (fault) {
      if (fault instanceof GivenUp) return fault.result
      throw fault
    } finally {
      signal?.removeEventListener('abort', onAbort)
      this.#openings.delete(opening)
    }
  }

  /** Those of an agent, or all. Resolves when they are over; one that was too far has opened its pane. */
  async giveUp(result: OpenResult, uid?: string): Promise<void> {
    const wanted = uid === undefined ? undefined : comparableUid(uid)
    const openings = [...this.#openings].filter(
      (opening) => wanted === undefined || comparableUid(opening.uid) === wanted
    )
    for (const { abort } of openings) abort.abort(new GivenUp(result))
    await Promise.allSettled(openings.map(({ done }) => done))
  }
}

class GivenUp extends Error {
  readonly result: OpenResult

  constructor(result: OpenResult) {
    super('it was given up while it was being opened')
    this.result = result
  }
}
