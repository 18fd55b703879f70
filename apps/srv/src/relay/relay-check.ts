/**
 * The early check at the relay: who has the agent elsewhere, by what the relay says now, or said lately. It waits a moment at
 * most, and hardly for a relay that was silent just now: silence and doubt object to nothing (R7), and are told (R8).
 */
import type { AgentRef, Clock, Holder } from '@agentmux/lease-model'
import type { RelayLeases, RelayTrouble, TierAnswer } from '@agentmux/wan-client'

/** A slow relay is not waited for; one that was silent just now gets even less. */
const ASK_FOR_MS = 2_000
const ASK_IN_TROUBLE_FOR_MS = 300
/** So long trouble counts, unless a renewal or a claim has told that it is over. */
const TROUBLED_FOR_MS = 20_000
const LEASE_ROUTES: ReadonlySet<string> = new Set(['claim', 'renew', 'renew-batch'])

export class RelayCheck {
  readonly #leases: RelayLeases
  readonly #clock: Clock
  #trouble: { readonly why: string; readonly atMs: number; readonly ofLeases: boolean } | undefined

  constructor(leases: RelayLeases, clock: Clock) {
    this.#leases = leases
    this.#clock = clock
  }

  noteTrouble({ route, why }: Pick<RelayTrouble, 'route' | 'why'>): void {
    if (LEASE_ROUTES.has(route)) this.#note(why, true)
    else if (route === 'holder') this.#note(why, false)
  }

  /** The relay keys on the name: an agent without one is free. @throws the signal's reason when aborted. */
  async heldElsewhere({ name }: AgentRef, signal: AbortSignal): Promise<TierAnswer> {
    if (name === undefined || this.#leases.isHeld(name)) return { kind: 'free' }
    const lately = this.#leases.heldElsewhere(name)
    const trouble = this.#recentTrouble()
    const soon = AbortSignal.timeout(trouble === undefined ? ASK_FOR_MS : ASK_IN_TROUBLE_FOR_MS)
    try {
      const answer = await this.#leases.holder(name, { signal: AbortSignal.any([signal, soon]) })
      if (answer.kind === 'unknown') return orLately(lately, answer.why)
      // It answers again, whatever it did before.
      this.#trouble = undefined
      return answer.kind === 'other' ? { kind: 'held', holder: answer.holder } : { kind: 'free' }
    } catch (reason) {
      signal.throwIfAborted()
      if (!soon.aborted) throw reason
      this.#note('slow', false)
      return orLately(lately, trouble ?? 'slow')
    }
  }

  #note(why: string, ofLeases: boolean): void {
    this.#trouble = { why, atMs: this.#clock.bootMs(), ofLeases }
  }

  #recentTrouble(): string | undefined {
    if (this.#trouble === undefined) return undefined
    const { why, atMs, ofLeases } = this.#trouble
    if (ofLeases && this.#leases.lastTrouble() === undefined) return undefined
    return this.#clock.bootMs() - atMs < TROUBLED_FOR_MS ? why : undefined
  }
}

function orLately(holder: Holder | undefined, why: string): TierAnswer {
  return holder === undefined
    ? { kind: 'unknown', why: `the relay did not say: ${why}` }
    : { kind: 'held', holder }
}
