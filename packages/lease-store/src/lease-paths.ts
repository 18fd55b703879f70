/** Where the files of a key are. Every reader and writer of every build agrees on these names. */
import { join } from 'node:path'
import { leaseKey } from './lease-key.js'

export interface LeasePaths {
  readonly key: string
  readonly lease: string
  readonly lock: string
  readonly epoch: string
}

export const LEASE_SUFFIX = '.lease.json'
export const LOCK_SUFFIX = '.lock'

/** Checked keys remembered at the same time: as many as one process may hold. */
const MAX_KEYS = 16_384

/** The folder of the lease files under a registry root. */
export function leasesFolder(registryRoot: string): string {
  return join(registryRoot, 'leases')
}

/** The paths of keys in one folder. Checking a UID costs more than remembering it. */
export class LeaseFolder {
  readonly path: string
  readonly #known = new Map<string, LeasePaths>()

  constructor(path: string) {
    this.path = path
  }

  /** @throws TypeError or RangeError if the UID cannot be a key. */
  pathsOf(uid: string): LeasePaths {
    const known = this.#known.get(uid)
    if (known !== undefined) return known
    const paths = this.pathsOfKey(leaseKey(uid))
    if (this.#known.size >= MAX_KEYS) this.#known.clear()
    this.#known.set(uid, paths)
    return paths
  }

  /** For names found in the folder: they are in it, whatever they are. */
  pathsOfKey(key: string): LeasePaths {
    const stem = join(this.path, key)
    return { key, lease: stem + LEASE_SUFFIX, lock: stem + LOCK_SUFFIX, epoch: `${stem}.epoch` }
  }
}
