/** What a HostAdmission is made from, what it is asked, and what it answers. */
import type { AgentRef, Clock, HostIdentity, InstanceIdentity } from '@agentmux/lease-model'
import type { AdviceOptions, Refusal } from '@agentmux/refusals'
import type { HeldAgentLease } from './held-agent-lease.js'
import type { SharedRecord } from './record/shared-record.js'

export interface HostAdmissionOptions {
  readonly registryRoot: string
  readonly instance: InstanceIdentity
  readonly host?: HostIdentity
  readonly clock?: Clock
  /** The TTL of leases taken here, milliseconds; 15,000 unless given. */
  readonly ttlMs?: number
  /** Between SIGTERM and SIGKILL for the processes of an older claim, milliseconds; 1,000 unless given. */
  readonly previousGraceMs?: number
  /**
   * What the holders of the agents have written. Its highest epoch is the floor for every claim here (R10), and from the
   * grant on it turns earlier epochs away.
   */
  readonly record?: SharedRecord
  /** What a refused person can do here. */
  readonly advice?: AdviceOptions
  /** Told of faults that are not losses, for the log. */
  readonly onFault?: (agent: AgentRef, fault: unknown) => void
}

export interface AcquireOptions {
  /** The pane that will drive the agent. */
  readonly blockId: string
  readonly sessionId?: string
  /** The highest epoch seen anywhere but in the admission's own record (R10). */
  readonly epochFloor?: number
  readonly signal?: AbortSignal
  /** Called once, when the lease is lost; not when it is released. */
  readonly onLost?: (refusal: Refusal) => void
}

export type AcquireResult =
  | { readonly kind: 'granted'; readonly lease: HeldAgentLease }
  /**
   * Somebody else drives the agent or has just taken it over, or processes of the claim before could not be ended.
   */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Could not find out: only watching can tell (`retryAfterMs`), or the files of the lease or the record cannot be used. */
  | { readonly kind: 'unknown'; readonly refusal: Refusal; readonly retryAfterMs?: number }
