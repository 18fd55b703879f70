/** What must not happen twice at the same time to the same thing: whoever comes next waits, for as long as they want to. */
import { unlessAborted } from './unless-aborted.js'

export class OneAtATime {
  readonly #underWay = new Map<string, Promise<void>>()

  /** @throws the signal's reason, and then `work` was not begun; whatever `work` throws. */
  async run<T>(name: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    for (let before = this.#underWay.get(name); before; before = this.#underWay.get(name)) {
      await unlessAborted(before, signal)
    }
    const working = work()
    const over = working.then(
      () => {},
      () => {}
    )
    this.#underWay.set(name, over)
    try {
      return await working
    } finally {
      if (this.#underWay.get(name) === over) this.#underWay.delete(name)
    }
  }
}
