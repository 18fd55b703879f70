/** Errors that nobody caught: they end the process, but not before whoever holds something has put it down. */
import { say } from './output.js'

/** EX_SOFTWARE of sysexits.h: our own mistake. */
export const INTERNAL_ERROR = 70

export class CrashHandler {
  #cleanUp: (() => void) | undefined

  constructor() {
    process.on('uncaughtException', (error) => this.crash(error))
  }

  /**
   * From now on a crash calls `cleanUp`, which has to end the process in its own time. Only the first crash does: a
   * second one, of the clean-up itself perhaps, ends the process at once. Returns a function that takes it back.
   */
  cleanUpFirst(cleanUp: () => void): () => void {
    this.#cleanUp = cleanUp
    return () => {
      if (this.#cleanUp === cleanUp) this.#cleanUp = undefined
    }
  }

  crash(error: unknown): void {
    say(`internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
    const cleanUp = this.#cleanUp
    this.#cleanUp = undefined
    if (cleanUp === undefined) process.exit(INTERNAL_ERROR)
    cleanUp()
  }
}
