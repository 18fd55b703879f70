/**
 * The early check at the relay: who has the agent elsewhere, by what the relay says now, or said lately. It waits a moment at
 * most: silence and doubt object to nothing (R7), and are told (R8).
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import type { RelayLeases, TierAnswer } from '@agentmux/wan-client'

/** A slow relay is not waited for; one that cannot be reached says so at once. */
const ASK_FOR_MS = 2_000

export class RelayCheck {
  readonly #leases: RelayLeases

  constructor(leases: RelayLeases) {
    this.#leases = leases
  }

  /** The relay keys on the name: an agent without one is free. @throws the signal's reason when aborted. */
  async heldElsewhere({ name }: AgentRef, signal: AbortSignal): Promise<TierAnswer> {
    if (name === undefined || this.#leases.isHeld(name)) return { kind: 'free' }
    const lately = this.#leases.heldElsewhere(name)
    const soon = AbortSignal.timeout(ASK_FOR_MS)
    try {
      const answer = await this.#leases.holder(name, { signal: AbortSignal.any([signal, soon]) })
      if (answer.kind === 'unknown') return orLately(lately, answer.why)
      return answer.kind === 'other' ? { kind: 'held', holder: answer.holder } : { kind: 'free' }
    } catch (reason) {
      signal.throwIfAborted()
      if (!soon.aborted) throw reason
      return orLately(lately, 'slow')
    }
  }
}

function orLately(holder: Holder | undefined, why: string): TierAnswer {
  return holder === undefined
    ? { kind: 'unknown', why: `the relay did not say: ${why}` }
    : { kind: 'held', holder }
}
