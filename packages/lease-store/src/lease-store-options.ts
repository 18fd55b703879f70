/** What a LeaseStore can be told at its opening. */
import type { Clock, HostIdentity, InstanceIdentity } from '@agentmux/lease-model'
import type { EndingResult, PreviousClaim } from './lease.js'
import type { TryFlock } from './native-flock.js'

export interface LeaseStoreOptions {
  /** Who claims. Share one per process: two stores with the same instance are the same owner. */
  readonly instance?: InstanceIdentity
  readonly host?: HostIdentity
  readonly clock?: Clock
  /** The TTL of leases claimed here, milliseconds. Older builds apply 15,000 to every lease. */
  readonly ttlMs?: number
  /** How long claim, renew, verify and release try for the key's lock, milliseconds. */
  readonly lockWaitMs?: number
  /**
   * Called before the place of a dead or expired claim is taken, to end its processes (R12). What it throws, `claim`
   * throws.
   */
  readonly endPrevious?: EndPrevious
  /** The lock call; replaced in tests of file systems without flock. */
  readonly flock?: TryFlock
}

export type EndPrevious = (previous: PreviousClaim, signal: AbortSignal | undefined) => Promise<EndingResult>

/** A lock is held for a fraction of a millisecond; whoever holds it this long is stopped, or its disk is. */
export const LOCK_WAIT_MS = 3_000
