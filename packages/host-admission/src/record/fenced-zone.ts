/** Something done only while the lease is held (R4): a turn, say. The lease file is asked first, whatever memory says. */
import type { Refusal } from '@agentmux/refusals'
import type { FencedLease } from './record-fence.js'

export interface ZoneLease extends FencedLease {
  /** Aborted at the loss, with the refusal as its reason. */
  readonly lostSignal: AbortSignal
}

export type ZoneResult<T> =
  /** The section ran to its end, and the lease was not known to be lost then. */
  | { readonly kind: 'done'; readonly value: T }
  /** `began`: it was lost while the section ran. What the section came to is dropped. */
  | { readonly kind: 'lost'; readonly refusal: Refusal; readonly began: boolean }

/**
 * Runs a section while the lease is held. The section should stop when its signal is aborted: the lease is lost then.
 * For a section that must not overlap another holder's, however short, there is LeaseStore.whileHeld.
 *
 * @throws LeaseFault if the lease file cannot be read: nothing has run. What the section throws while the lease is held.
 */
export async function fencedZone<T>(
  lease: ZoneLease,
  section: (lost: AbortSignal) => T | Promise<T>
): Promise<ZoneResult<T>> {
  const before = await lease.verify()
  if (before.kind === 'lost') return { kind: 'lost', refusal: before.refusal, began: false }
  let outcome: { value: T } | { error: unknown }
  try {
    outcome = { value: await section(lease.lostSignal) }
  } catch (error) {
    outcome = { error }
  }
  if (!lease.held) {
    const after = await lease.verify()
    if (after.kind === 'lost') return { kind: 'lost', refusal: after.refusal, began: true }
  }
  if ('error' in outcome) throw outcome.error
  return { kind: 'done', value: outcome.value }
}
