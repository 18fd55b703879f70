/**
 * The port through which the other tiers are asked, before a spawn, who drives an agent elsewhere. A tier detects and
 * fails open (R7): its silence never keeps an agent from starting, but it is told (R8).
 */
import type { AgentRef, Clock, Holder } from '@agentmux/lease-model'

export type HeldElsewhere =
  | { readonly kind: 'held'; readonly holder: Holder }
  | { readonly kind: 'free' }
  /** `why`: in a few words, for the log. */
  | { readonly kind: 'unknown'; readonly why: string }

export interface ElsewhereTier {
  readonly name: 'relay' | 'lan'
  /** Reads only. */
  heldElsewhere(agent: AgentRef, signal: AbortSignal): Promise<HeldElsewhere>
}

export interface AskTierOptions {
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/** No tier takes this long; it bounds the check if one does (R3). */
const TIER_LIMIT_MS = 5_000

/** A fault, and an answer that does not come, are `unknown`. @throws the signal's reason when aborted. */
export async function askTier(
  tier: ElsewhereTier,
  agent: AgentRef,
  { clock, signal }: AskTierOptions
): Promise<HeldElsewhere> {
  signal?.throwIfAborted()
  const bound = new AbortController()
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
      settle()
    }
    const onAbort = () => {
      bound.abort(signal?.reason)
      finish(() => reject(signal?.reason))
    }
    const cancelTimer = clock.after(TIER_LIMIT_MS, () => {
      bound.abort(new Error('no answer in time'))
      finish(() => resolve({ kind: 'unknown', why: 'no answer in time' }))
    })
    signal?.addEventListener('abort', onAbort, { once: true })
    const asked = async () => tier.heldElsewhere(agent, bound.signal)
    asked().then(
      (answer) => finish(() => resolve(answer)),
      (fault) => finish(() => resolve({ kind: 'unknown', why: reasonOf(fault) }))
    )
  })
}

function reasonOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault)
}
