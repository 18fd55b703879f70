/**
 * The reservation after a hand-over, as a file beside the lease: `<key>.hold`. Whoever frees an agent writes it before the
 * lease is given up, so that there is no moment in between. It ends by itself. Above what others have reserved a hold is
 * placed, not in its stead: taken down again, it leaves theirs as it was.
 */
import { dirname } from 'node:path'
import type { LeaseStore } from '@agentmux/lease-store'
import { readPrivateFile, removeQuietly, replacePrivateFile } from '../private-file.js'
import { lockingHolds } from './hold-lock.js'
import {
  formatHolds,
  type HandoverHold,
  HOLD_MS,
  type LiveHold,
  liveHold,
  liveHolds
} from './hold-refuses.js'

/** For whom an agent is kept. */
export interface Successor {
  readonly channel: string
  readonly version: string
  /** Its owner id, where it is known: then nobody else passes, not even another instance of its channel. */
  readonly ownerBootId?: string | undefined
}

/** Who may read leases may read this: it keeps nothing secret. */
const MODE = 0o644
const LEASE_SUFFIX = '.lease.json'

/** @throws TypeError or RangeError for what cannot be a UID. */
export function holdFileOf(store: LeaseStore, uid: string): string {
  return `${store.pathOf(uid).slice(0, -LEASE_SUFFIX.length)}.hold`
}

/** For 30 s from now. */
export function holdFor(store: LeaseStore, { channel, version, ownerBootId }: Successor): HandoverHold {
  return {
    until_boot_ms: Math.floor(store.clock.bootMs()) + HOLD_MS,
    host_boot_id: store.host.hostBootId,
    to_channel: channel,
    to_version: version,
    to_boot_id: ownerBootId ?? ''
  }
}

/**
 * Changes what keeps the agent, while nobody else does: what counts now, the one that decides first, becomes what `change`
 * says. Expired ones are dropped whole. Returns what stands then.
 *
 * @throws what node:fs throws, an Error where the lock cannot be had; what stood before is then still in place.
 */
export function changeHolds(
  store: LeaseStore,
  uid: string,
  change: (live: readonly HandoverHold[]) => readonly HandoverHold[]
): readonly HandoverHold[] {
  const path = holdFileOf(store, uid)
  return lockingHolds(dirname(path), () => {
    const file = readPrivateFile(path)
    const before = file.kind === 'text' ? liveHolds(file.text, nowOf(store)) : []
    const [first, ...rest] = change(before)
    if (first === undefined) {
      if (file.kind === 'text') removeQuietly(path)
      return []
    }
    const text = formatHolds([first, ...rest])
    if (file.kind !== 'text' || file.text !== text) {
      replacePrivateFile(path, text, { mode: MODE, temporary: `${path}.${process.pid}.tmp` })
    }
    return [first, ...rest]
  })
}

/** For whom the agent is kept now; undefined if for nobody. A file that cannot be read keeps nothing. */
export function readHold(store: LeaseStore, uid: string): LiveHold | undefined {
  const file = readPrivateFile(holdFileOf(store, uid))
  return file.kind === 'text' ? liveHold(file.text, { ...nowOf(store), instance: store.instance }) : undefined
}

/** Everything that keeps it now, the one that decides first. Read only. */
export function readHolds(store: LeaseStore, uid: string): readonly HandoverHold[] {
  const file = readPrivateFile(holdFileOf(store, uid))
  return file.kind === 'text' ? liveHolds(file.text, nowOf(store)) : []
}

/** Whether there is a file that keeps the agent for nobody any more: to be dropped by whoever writes next. */
export function hasExpiredHold(store: LeaseStore, uid: string): boolean {
  const file = readPrivateFile(holdFileOf(store, uid))
  return file.kind === 'text' && liveHolds(file.text, nowOf(store)).length === 0
}

export function isSameHold(one: HandoverHold, other: HandoverHold): boolean {
  return formatHolds([one]) === formatHolds([other])
}

function nowOf({ host, clock }: LeaseStore) {
  return { host, bootMs: clock.bootMs() }
}
