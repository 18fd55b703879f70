/** Our own lease, as others would report it back to us: by another of our addresses, or through a relayed answer. */
import { createHash } from 'node:crypto'
import { leaseHostname } from '@agentmux/lease-model'
import type { Contender } from '../tie-break/contender.js'
import type { Holding } from './holding.js'

/** What is held here, from the lease file. */
export interface OwnLease {
  readonly claimId: string
  readonly acquiredAtMs: number
  /** The host name in the lease file. */
  readonly hostname: string
}

/** The form in which a claim is told to others: it tells claims apart without giving away the mark of their processes. */
export function claimHash(claimId: string): string {
  return createHash('sha256').update(claimId).digest('hex')
}

export function contenderOf(lease: OwnLease): Contender {
  return {
    acquiredAtMs: lease.acquiredAtMs,
    hostname: leaseHostname(lease.hostname),
    claim: lease.claimId === '' ? '' : claimHash(lease.claimId)
  }
}

/**
 * Whether a holding is our own: by its claim where it has one, else by the host name, as older builds do. `ours` is what
 * is held here, if anything is; `hostname` is this computer's, as in a lease.
 */
export function isOwnLease(
  holding: Extract<Holding, { kind: 'held' }>,
  ours: Contender | undefined,
  hostname: string
): boolean {
  if (holding.claim !== '') return ours !== undefined && ours.claim === holding.claim
  return holding.hostname === hostname
}
