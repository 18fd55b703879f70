/** What a look says in one word, so that silence is never taken for an answer (R8). */
import { decide } from '../tie-break/decide.js'
import type { LanHolder, LanLook, SilentBecause, SilentPeer } from './lan-look.js'

export type LanVerdict =
  /** `holder`: the one that keeps it, should there be several. */
  | { readonly kind: 'held'; readonly holder: LanHolder; readonly others: readonly LanHolder[] }
  /** All that are known answered, and none holds it. `answered` 0: there is nobody to ask. */
  | { readonly kind: 'free'; readonly answered: number }
  /** Those who answered do not hold it; others did not answer. */
  | { readonly kind: 'partly'; readonly answered: number; readonly silent: readonly SilentPeer[] }
  /** Nobody answered. */
  | { readonly kind: 'unknown'; readonly silent: readonly SilentPeer[]; readonly because: LanUnknownBecause }

/**
 * Why nobody answered, where all have it in common: `unreachable` is a firewall, a VPN or a missing permission; the others
 * are as in SilentBecause; `mixed` otherwise.
 */
export type LanUnknownBecause = SilentBecause | 'mixed'

export function verdictOf({ holders, answered, silent }: LanLook): LanVerdict {
  if (holders.length > 0) {
    const holder = decide(holders)
    return { kind: 'held', holder, others: holders.filter((each) => each !== holder) }
  }
  if (silent.length === 0) return { kind: 'free', answered }
  if (answered > 0) return { kind: 'partly', answered, silent }
  const reasons = new Set(silent.map(({ why }) => why))
  const [only] = reasons
  return { kind: 'unknown', silent, because: reasons.size === 1 && only !== undefined ? only : 'mixed' }
}
