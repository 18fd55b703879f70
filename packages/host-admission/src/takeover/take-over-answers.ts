/** What a take-over is asked, what it needs, and what it comes to. */
import type { AgentRef, Clock, Holder, InstanceIdentity } from '@agentmux/lease-model'
import type { LeaseStore } from '@agentmux/lease-store'
import type { AdviceOptions, FreedHow } from '@agentmux/refusals'
import type { InstanceClient } from '../instance/instance-client.js'
import type { InstanceEndpoint } from '../instance/instance-endpoint.js'
import type { HeldLease } from '../local-holding.js'
import type { OtherInstances } from '../reactive/other-instances.js'
import type { HandoverHolds } from './handover-holds.js'

export interface TakeOverRequest {
  readonly agent: AgentRef
  /**
   * For whom the agent is kept afterwards: any instance of our channel and version, or only this process, which then has
   * to claim it itself. `channel` unless given.
   */
  readonly reserveFor?: 'channel' | 'this-process'
  readonly signal?: AbortSignal | undefined
  /** From beginning to end; 25,000 unless given. More than 30,000 outlasts what keeps others from being faster. */
  readonly timeoutMs?: number | undefined
  readonly onProgress?: ((progress: TakeOverProgress) => void) | undefined
}

export type TakeOverProgress =
  | { readonly kind: 'asking'; readonly holder: Holder; readonly endpoint: InstanceEndpoint }
  /** At least once a second while a lease is held. */
  | { readonly kind: 'waiting'; readonly holder: Holder }

export interface TakeOverPorts {
  readonly store: LeaseStore
  readonly holds: HandoverHolds
  readonly others: OtherInstances
  readonly client: InstanceClient
  /** The leases that this process holds. */
  readonly held: Iterable<HeldLease>
  readonly clock: Clock
  /** As the store's own. */
  readonly instance: Pick<InstanceIdentity, 'channel' | 'version'>
  /** What the person can do who reads that it did not come about. */
  readonly advice?: AdviceOptions | undefined
}

/** `message`: for people, safe to print. */
export type TakeOverResult =
  /** Nobody held it. It is kept for us now. */
  | { readonly kind: 'free' }
  /** It was let go, or its holder has come to an end otherwise. It is kept for us now. */
  | {
      readonly kind: 'released'
      readonly fromChannel: string
      readonly holder: Holder
      readonly how: FreedHow
    }
  /** This process holds it already. */
  | { readonly kind: 'this-process'; readonly blockId: string }
  /**
   * `not-running`: the lease names an instance that has no live endpoint. `outrun`: somebody else has taken it over
   * meanwhile, `holder`.
   */
  | {
      readonly kind: 'another-computer' | 'not-running' | 'refused' | 'too-old' | 'no-answer' | 'outrun'
      readonly holder: Holder
      readonly message: string
    }
  /** Only watching can tell whether anybody holds it (`retryAfterMs`), or the lease cannot be read. */
  | { readonly kind: 'unknown'; readonly message: string; readonly retryAfterMs?: number }
  /** `holder`: who had it when last seen. */
  | { readonly kind: 'ran-out'; readonly holder?: Holder; readonly message: string }
