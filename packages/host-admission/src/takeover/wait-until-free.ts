/**
 * Waits until an agent that was asked for is free on this computer: woken by the change of its lease file, and then, for
 * older builds that have none, until no instance says that it runs it. Always ends within its own bound.
 */
import type { Clock, Holder } from '@agentmux/lease-model'
import type { LeaseStore } from '@agentmux/lease-store'
import type { OtherInstances } from '../reactive/other-instances.js'

export interface WaitOptions {
  readonly store: LeaseStore
  readonly others: OtherInstances
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  /** 25,000 unless given. */
  readonly timeoutMs?: number | undefined
  /** Told who still has it, at least once a second while a lease is held, to show progress. */
  readonly onStillHeld?: ((holder: Holder) => void) | undefined
}

export type WaitResult =
  | { readonly kind: 'free' }
  /** `holder`: who still had it when last seen. */
  | { readonly kind: 'ran-out'; readonly holder?: Holder }

const TIMEOUT_MS = 25_000
/** Nothing wakes us when an older build forgets an agent: it is asked this often. */
const ASK_AGAIN_MS = 250

/** @throws LeaseFault if the lease file cannot be read; the signal's reason; TypeError or RangeError for a bad UID. */
export async function waitUntilFree(uid: string, options: WaitOptions): Promise<WaitResult> {
  const { store, others, clock, signal } = options
  signal?.throwIfAborted()
  const bound = new AbortController()
  const ranOut = new Error('it did not let go in time')
  const onAbort = () => bound.abort(signal?.reason)
  const cancelTimer = clock.after(options.timeoutMs ?? TIMEOUT_MS, () => bound.abort(ranOut))
  signal?.addEventListener('abort', onAbort, { once: true })
  let holder: Holder | undefined
  const stillHeldBy = (by: Holder) => {
    holder = by
    options.onStillHeld?.(by)
  }
  try {
    for (;;) {
      await store.waitForRelease(uid, {
        signal: bound.signal,
        onStillHeld: (look) => {
          if (look.kind !== 'free') stillHeldBy(look.holder)
        }
      })
      const probe = await others.probeOtherInstances(uid, bound.signal)
      if (probe.kind === 'nobody') return { kind: 'free' }
      stillHeldBy(probe.holder)
      await clock.sleep(ASK_AGAIN_MS, bound.signal)
    }
  } catch (error) {
    if (error !== ranOut) throw error
    return holder === undefined ? { kind: 'ran-out' } : { kind: 'ran-out', holder }
  } finally {
    cancelTimer()
    signal?.removeEventListener('abort', onAbort)
  }
}
