/** Whether a lease still is what stands in its file: owner, block and claim must be the same (R4). */
import type { Lease, Loss } from './lease.js'
import type { LeaseSight, Sight } from './lease-sight.js'

/** Why the lease is lost; undefined if it is not. Its age does not matter: expired and not taken is still held. */
export function lossOf(lease: Lease, sight: Sight, eyes: LeaseSight): Loss | undefined {
  if (sight.kind === 'missing') return { why: 'missing' }
  if (sight.kind === 'unreadable') return { why: 'unreadable' }
  const { record } = sight
  const sameOwner = record.owner_boot_id === lease.ownerBootId
  // What an old build left empty matches any.
  const sameBlock = record.block_id === '' || record.block_id === lease.blockId
  const sameClaim = record.claim_id === '' || record.claim_id === lease.claimId
  if (sameOwner && sameBlock && sameClaim) return undefined
  return { why: sameOwner ? 'reclaimed-here' : 'taken', holder: eyes.holder(sight) }
}
