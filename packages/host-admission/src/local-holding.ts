/** Which of the agents that others ask about this process holds, from the leases it holds now. No file, no lock. */
import type { AgentRef } from '@agentmux/lease-model'
import type { ClaimantInfo } from './claimant-info.js'
import type { Holding } from './instance/holding.js'
import { comparableUid } from './same-uid.js'

/** What is asked of a lease that is held here. */
export interface HeldLease {
  readonly agent: AgentRef
  /** False from the loss on, while its processes end. */
  readonly held: boolean
  readonly blockId: string
  readonly claimId: string
  readonly acquiredAtMs: number
}

export interface LocalHoldingOptions {
  readonly held: Iterable<HeldLease>
  readonly claimant: ClaimantInfo
}

/** The lease of an agent; undefined if it is not held here. */
export function heldLeaseOf(uid: string, held: Iterable<HeldLease>): HeldLease | undefined {
  return leasesByUid(held).get(comparableUid(uid))
}

/** The answer to one question: what GET /agentmux/agent/holding sends. */
export function localHolding(uid: string, options: LocalHoldingOptions): Holding {
  return holdingOf(heldLeaseOf(uid, options.held), options.claimant)
}

/** The answers to many, by the UID as it was asked; the leases are gone through once. */
export function localHoldings(
  uids: Iterable<string>,
  { held, claimant }: LocalHoldingOptions
): Map<string, Holding> {
  const leases = leasesByUid(held)
  const holdings = new Map<string, Holding>()
  for (const uid of uids) holdings.set(uid, holdingOf(leases.get(comparableUid(uid)), claimant))
  return holdings
}

function leasesByUid(held: Iterable<HeldLease>): Map<string, HeldLease> {
  const leases = new Map<string, HeldLease>()
  for (const lease of held) {
    if (lease.held) leases.set(comparableUid(lease.agent.uid), lease)
  }
  return leases
}

function holdingOf(lease: HeldLease | undefined, { hostname, channel, version }: ClaimantInfo): Holding {
  if (lease === undefined) return { held: false, hostname, channel: '', version: '', acquired_at_ms: 0 }
  // The hash tells one claim from another without giving away the mark by which its processes are found.
  // Loaded by the first who asks: a holder that nobody asks about does not need it.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const claim = createHash('sha256').update(lease.claimId).digest('hex')
  return { held: true, hostname, channel, version, acquired_at_ms: lease.acquiredAtMs, claim }
}
