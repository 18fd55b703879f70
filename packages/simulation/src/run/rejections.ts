/** What a simulated program threw and nobody caught. What a dead process was about to do ends in `Killed`, and is no news. */
import { Killed } from '../kernel/thread.js'

export class Rejections {
  readonly #unhandled: unknown[] = []

  /** From now on, for the whole of this process. */
  watch(): void {
    process.on('unhandledRejection', (reason) => {
      if (!(reason instanceof Killed)) this.#unhandled.push(reason)
    })
  }

  /** The first since the last call, as text; undefined if there is none. Waits until Node has told of all there are. */
  async first(): Promise<string | undefined> {
    await new Promise((resolve) => setImmediate(resolve))
    const [reason] = this.#unhandled.splice(0)
    return reason === undefined ? undefined : String((reason as Error)?.stack ?? reason)
  }
}
