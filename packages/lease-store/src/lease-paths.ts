/** Where the files of a key are. Every reader and writer of every build agrees on these names. */
import { join } from 'node:path'

export interface LeasePaths {
  readonly lease: string
  readonly lock: string
  readonly epoch: string
}

export const LEASE_SUFFIX = '.lease.json'
export const LOCK_SUFFIX = '.lock'

/** The folder of the lease files under a registry root. */
export function leasesFolder(registryRoot: string): string {
  return join(registryRoot, 'leases')
}

/** `key` must come from `leaseKey`. */
export function leasePaths(folder: string, key: string): LeasePaths {
  const stem = join(folder, key)
  return { lease: stem + LEASE_SUFFIX, lock: stem + LOCK_SUFFIX, epoch: `${stem}.epoch` }
}
