/**
 * Reads, decides and writes until nobody has come in between, or etcd cannot be asked. Each attempt begins with a new read, so
 * that one whose answer was lost is seen by the next.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreUnavailable } from '../store-unavailable.js'
import { isLeaseGone } from './etcd-client.js'

/** Clients wait 10 s, those that only look 5 s. */
const BUDGET_MS = 4_000
const PAUSE_MS = 30

/** Something changed between the read and the write. */
export const AGAIN = Symbol('again')

export async function attempts<T>(attempt: () => Promise<T | typeof AGAIN>): Promise<T> {
  const endMs = performance.now() + BUDGET_MS
  let fault: StoreUnavailable | undefined
  for (let count = 0; performance.now() < endMs; count++) {
    if (count > 0) await sleep(Math.random() * PAUSE_MS * Math.min(count, 8))
    try {
      const answer = await attempt()
      if (answer !== AGAIN) return answer
      fault = undefined
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || error.code === 'closed') throw error
      if (!isLeaseGone(error)) fault = error
    }
  }
  throw fault ?? new StoreUnavailable('contended')
}
