/**
 * The early check at the relay: who has the agent elsewhere, by what the relay says now, or said lately. It waits a moment at
 * most, and not at all for a relay that was silent just now: silence and doubt object to nothing (R7), and are told (R8).
 */
import type { AgentRef, Clock, Holder } from '@agentmux/lease-model'
import type { RelayLeases, RelayTrouble, TierAnswer } from '@agentmux/wan-client'

/** A slow relay is not waited for. */
const ASK_FOR_MS = 2_000
/** After trouble the relay is not asked so long: the next renewal tells whether it is over. */
const TROUBLED_FOR_MS = 20_000
const ABOUT_LEASES: ReadonlySet<string> = new Set(['claim', 'renew', 'renew-batch', 'holder'])

export class RelayCheck {
  readonly #leases: RelayLeases
  readonly #clock: Clock
  #trouble: { readonly why: string; readonly atMs: number } | undefined

  constructor(leases: RelayLeases, clock: Clock) {
    this.#leases = leases
    this.#clock = clock
  }

  noteTrouble({ route, why }: Pick<RelayTrouble, 'route' | 'why'>): void {
    if (ABOUT_LEASES.has(route)) this.#note(why)
  }

  /** The relay keys on the name: an agent without one is free. @throws the signal's reason when aborted. */
  async heldElsewhere({ name }: AgentRef, signal: AbortSignal): Promise<TierAnswer> {
    if (name === undefined || this.#leases.isHeld(name)) return { kind: 'free' }
    const lately = this.#leases.heldElsewhere(name)
    const trouble = this.#recentTrouble()
    if (trouble !== undefined) return orLately(lately, trouble)
    const soon = AbortSignal.timeout(ASK_FOR_MS)
    try {
      const answer = await this.#leases.holder(name, { signal: AbortSignal.any([signal, soon]) })
      if (answer.kind === 'unknown') return orLately(lately, answer.why)
      // It answers again, whatever it did before.
      this.#trouble = undefined
      return answer.kind === 'other' ? { kind: 'held', holder: answer.holder } : { kind: 'free' }
    } catch (reason) {
      signal.throwIfAborted()
      if (!soon.aborted) throw reason
      this.#note('slow')
      return orLately(lately, 'slow')
    }
  }

  #note(why: string): void {
    this.#trouble = { why, atMs: this.#clock.bootMs() }
  }

  #recentTrouble(): string | undefined {
    const { why, atMs } = this.#trouble ?? { why: '', atMs: Number.NEGATIVE_INFINITY }
    return this.#clock.bootMs() - atMs < TROUBLED_FOR_MS ? why : undefined
  }
}

function orLately(holder: Holder | undefined, why: string): TierAnswer {
  return holder === undefined
    ? { kind: 'unknown', why: `the relay did not say: ${why}` }
    : { kind: 'held', holder }
}
