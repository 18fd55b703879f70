/**
 * Who drives an agent on this computer, and whom to ask to let it go: the lease file names the holder and the reactive
 * registry where it answers; an older build without a lease is found by asking around. Reads and asks, changes nothing.
 */
import type { Holder } from '@agentmux/lease-model'
import type { LeaseStore } from '@agentmux/lease-store'
import type { InstanceEndpoint } from '../instance/instance-endpoint.js'
import { type HeldLease, heldLeaseOf } from '../local-holding.js'
import type { OtherInstances } from '../reactive/other-instances.js'

export interface LocateOptions {
  readonly store: LeaseStore
  /** The leases that this process holds. */
  readonly held: Iterable<HeldLease>
  readonly others: OtherInstances
  readonly signal?: AbortSignal | undefined
}

export type Located =
  /** Nobody on this computer, as far as anyone said. What a relay or the network knows is another question. */
  | { readonly kind: 'nobody' }
  | { readonly kind: 'this-process'; readonly lease: HeldLease }
  /** To be asked in this order until one has let go. None: the instance that holds it does not answer to anyone. */
  | { readonly kind: 'found'; readonly holder: Holder; readonly endpoints: readonly InstanceEndpoint[] }
  /** The lease was written on another computer that shares the folder: no instance here can let it go. */
  | { readonly kind: 'another-computer'; readonly holder: Holder }
  /** Only watching tells whether the holder that the lease names still is one; it may be asked all the same. */
  | {
      readonly kind: 'unknown'
      readonly holder: Holder
      readonly retryAfterMs: number
      readonly endpoints: readonly InstanceEndpoint[]
    }

/** @throws LeaseFault if the lease file cannot be read; the signal's reason; TypeError or RangeError for a bad UID. */
export async function locateHolder(
  uid: string,
  { store, held, others, signal }: LocateOptions
): Promise<Located> {
  signal?.throwIfAborted()
  const lease = heldLeaseOf(uid, held)
  if (lease !== undefined) return { kind: 'this-process', lease }
  const look = store.liveHolderOtherThan(uid, store.instance.ownerBootId)
  if (look.kind === 'free' || look.kind === 'over') {
    const probe = await others.probeOtherInstances(uid, signal)
    if (probe.kind === 'nobody') return { kind: 'nobody' }
    return { kind: 'found', holder: probe.holder, endpoints: [probe.endpoint] }
  }
  const { holder } = look
  const endpoints = holder.place === 'this-host' ? others.endpointsOf(holder) : []
  if (look.kind === 'unknown') {
    return { kind: 'unknown', holder, retryAfterMs: look.retryAfterMs, endpoints }
  }
  if (holder.place !== 'this-host') return { kind: 'another-computer', holder }
  return { kind: 'found', holder, endpoints }
}
