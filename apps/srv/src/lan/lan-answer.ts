/** What the LAN says about one agent, with what stands in the way of asking: silence is never called free (R8). */
import type { DiscoveryState, LanVerdict } from '@agentmux/lan-tier'

export type LanAnswer = LanVerdict | NobodyFindable

/** Others cannot be found, and so nobody was asked. */
export interface NobodyFindable {
  readonly kind: 'unknown'
  readonly silent: readonly []
  readonly because: 'no-multicast'
}

export function lanAnswerOf(verdict: LanVerdict, { multicast }: DiscoveryState): LanAnswer {
  if (verdict.kind !== 'free' || verdict.answered > 0 || multicast !== 'unavailable') return verdict
  return { kind: 'unknown', silent: [], because: 'no-multicast' }
}
