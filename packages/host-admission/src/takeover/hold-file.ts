/**
 * The reservation after a hand-over, as a file beside the lease: `<key>.hold`. Whoever frees an agent writes it before the
 * lease is given up, so that there is no moment in between. It ends by itself.
 */
import type { LeaseStore } from '@agentmux/lease-store'
import { readPrivateFile, removeQuietly, replacePrivateFile } from '../private-file.js'
import { formatHold, HOLD_MS, type LiveHold, liveHold } from './hold-refuses.js'

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

/**
 * Keeps the agent for its successor from now on, 30 s long; a hold from before is replaced. Returns the text of the file.
 *
 * @throws what node:fs throws; a hold from before is then still in place.
 */
export function writeHold(store: LeaseStore, uid: string, successor: Successor): string {
  const path = holdFileOf(store, uid)
  const text = formatHold({
    until_boot_ms: Math.floor(store.clock.bootMs()) + HOLD_MS,
    host_boot_id: store.host.hostBootId,
    to_channel: successor.channel,
    to_version: successor.version,
    to_boot_id: successor.ownerBootId ?? ''
  })
  replacePrivateFile(path, text, { mode: MODE, temporary: `${path}.${process.pid}.tmp` })
  return text
}

/** For whom the agent is kept now; undefined if for nobody. A file that cannot be read keeps nothing. */
export function readHold(store: LeaseStore, uid: string): LiveHold | undefined {
  const file = readPrivateFile(holdFileOf(store, uid))
  if (file.kind !== 'text') return undefined
  return liveHold(file.text, { host: store.host, bootMs: store.clock.bootMs(), instance: store.instance })
}

/** Ends a hold; only the one with this text, where it is given. */
export function clearHold(store: LeaseStore, uid: string, text?: string): void {
  const path = holdFileOf(store, uid)
  if (text !== undefined) {
    const file = readPrivateFile(path)
    if (file.kind !== 'text' || file.text !== text) return
  }
  removeQuietly(path)
}
