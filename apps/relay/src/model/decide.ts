/**
 * The rules of a lease, as decisions on what was seen. Pure, and the same for every store: a store reads, asks here, and
 * writes what was decided only if nothing has changed in between. Keeps true that a live lease changes hands by `take`
 * alone, that every change of holder takes the next epoch, and that the same call again gives the same answer.
 */
import type { Seen } from './agent-record.js'
import { type Holder, type Identity, isSameHolder } from './holder.js'

/** - `grant`: a change of holder, under this epoch - `keep`: it has it already - `refuse`: as `heldBy` has it, if anybody */
export type Decision =
  | { readonly kind: 'grant'; readonly epoch: number }
  | { readonly kind: 'keep'; readonly epoch: number }
  | { readonly kind: 'refuse'; readonly heldBy: Holder | undefined }

/** Enough for those a person can have under way at once. */
export const REMEMBERED_TAKES = 8

export function decideClaim(seen: Seen, claimant: Identity): Decision {
  const holder = liveHolder(seen)
  if (holder === undefined) return { kind: 'grant', epoch: nextEpoch(seen) }
  return isSameHolder(holder, claimant) ? { kind: 'keep', epoch: holder.epoch } : refusedBy(holder)
}

export function decideRenew(seen: Seen, claimant: Identity): Exclude<Decision, { kind: 'grant' }> {
  const holder = liveHolder(seen)
  if (holder === undefined) return { kind: 'refuse', heldBy: undefined }
  return isSameHolder(holder, claimant) ? { kind: 'keep', epoch: holder.epoch } : refusedBy(holder)
}

/**
 * Only a live lease can be taken: a free one is claimed. A take that was granted once is not granted again, however late
 * it is repeated: the agent may have been moved on by a person since.
 */
export function decideTake(seen: Seen, claimant: Identity, requestKey: string | undefined): Decision {
  const holder = liveHolder(seen)
  if (holder === undefined) return { kind: 'refuse', heldBy: undefined }
  if (isSameHolder(holder, claimant)) return { kind: 'keep', epoch: holder.epoch }
  if (requestKey !== undefined && seen.record?.takes.includes(requestKey)) return refusedBy(holder)
  return { kind: 'grant', epoch: nextEpoch(seen) }
}

/** Whether the lease ends by this: only its holder's word counts. */
export function decideRelease(seen: Seen, claimant: Identity): boolean {
  const holder = liveHolder(seen)
  return holder !== undefined && isSameHolder(holder, claimant)
}

export function liveHolder({ record, live }: Seen): Holder | undefined {
  return live && record?.state === 'held' ? record.holder : undefined
}

/** The takes to be remembered once this one is granted. */
export function withTake(takes: readonly string[], requestKey: string | undefined): readonly string[] {
  return requestKey === undefined ? takes : [...takes, requestKey].slice(-REMEMBERED_TAKES)
}

function nextEpoch({ record }: Seen): number {
  const epoch = (record?.holder.epoch ?? 0) + 1
  if (!Number.isSafeInteger(epoch)) throw new RangeError('the epochs of this agent are used up')
  return epoch
}

function refusedBy(heldBy: Holder): Decision & { readonly kind: 'refuse' } {
  return { kind: 'refuse', heldBy }
}
