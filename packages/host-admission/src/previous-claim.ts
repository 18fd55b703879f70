/** Ends what ran under the claim whose place is to be taken, as far as the lease's word may be believed (R12, R15). */
import type { Clock } from '@agentmux/lease-model'
import type { EndingResult, LeaseStore, PreviousClaim } from '@agentmux/lease-store'
import type { ClaimLook } from './claim-look.js'
import { endClaimProcesses } from './claim-processes.js'
import type { HeldLeases } from './held-leases.js'
import { onlyWeCanWrite } from './trusted-lease.js'

export interface PreviousClaimHome {
  readonly store: LeaseStore
  readonly clock: Clock
  readonly look: ClaimLook
  readonly held: HeldLeases
  /** Between SIGTERM and SIGKILL, milliseconds. */
  readonly graceMs: number
}

/** All of its processes, or none: what may not be ended is named, and the claim refused. */
export async function endPreviousClaim(
  { store, clock, look, held, graceMs }: PreviousClaimHome,
  { uid, claimId, driverPid, driverStartTicks }: PreviousClaim,
  signal: AbortSignal | undefined
): Promise<EndingResult> {
  // It may have been ours, and have run out.
  for (const lease of held.of(uid)) if (lease.claimId === claimId) await lease.supersede()
  const trusted = onlyWeCanWrite(store.folder, store.pathOf(uid))
  const recorded = { pid: driverPid, startTicks: driverStartTicks }
  const ended = await endClaimProcesses(claimId, { clock, look, graceMs, trusted, signal, recorded })
  if (ended.kind === 'ended') return ended
  return {
    kind: 'remaining',
    processes: ended.processes.map(({ pid, command, because }) => ({ pid, command, why: because }))
  }
}
