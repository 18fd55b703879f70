/** Waits for something to come true; the bound is generous, and only there so that a test that hangs says what for. */
import { setTimeout as sleep } from 'node:timers/promises'

const BOUND_MS = 100_000
const PAUSE_MS = 50

export async function until<T>(what: string, look: () => Promise<T | undefined | false>): Promise<T> {
  const endMs = performance.now() + BOUND_MS
  let last: unknown
  while (performance.now() < endMs) {
    try {
      const seen = await look()
      if (seen !== undefined && seen !== false) return seen
    } catch (error) {
      last = error
    }
    await sleep(PAUSE_MS)
  }
  throw new Error(`never: ${what}`, { cause: last })
}
