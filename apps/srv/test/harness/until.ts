/** Waits for something to become true. The bound is generous: it tells a hang from a slow machine, nothing else. */
import { setTimeout as sleep } from 'node:timers/promises'

const BOUND_MS = 150_000

/** Resolves with the first answer that is neither undefined, null nor false. */
export async function until<T>(
  what: string,
  look: () => T | undefined | null | false | Promise<T | undefined | null | false>
): Promise<T> {
  const giveUpAtMs = performance.now() + BOUND_MS
  for (;;) {
    const answer = await look()
    if (answer !== undefined && answer !== null && answer !== false) return answer
    if (performance.now() > giveUpAtMs) throw new Error(`waited in vain until ${what}`)
    await sleep(10)
  }
}
