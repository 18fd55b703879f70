/** What a held lease needs of the admission that made it. */
import type { AgentRef, Clock, LeaseTimings } from '@agentmux/lease-model'
import type { LeaseStore } from '@agentmux/lease-store'
import type { ClaimLook } from './claim-look.js'
import type { HeldAgentLease } from './held-agent-lease.js'

export interface LeaseHome {
  readonly store: LeaseStore
  readonly clock: Clock
  readonly timings: LeaseTimings
  readonly look: ClaimLook
  /** Called when the lease is no longer held here, for whatever reason. */
  readonly onGone: (lease: HeldAgentLease) => void
  /** Something went wrong that is not, by itself, a loss: a renewal that failed, say. Never throws. */
  readonly onFault: (agent: AgentRef, fault: unknown) => void
}
