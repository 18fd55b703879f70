/** Every lease in a folder. It takes no lock and creates nothing (R6); leases that come and go meanwhile may be missed. */
import { readdirSync } from 'node:fs'
import type { ListedLease } from './lease.js'
import { errnoOf, ioFault } from './lease-fault.js'
import { LEASE_SUFFIX, type LeaseFolder, type LeasePaths } from './lease-paths.js'
import type { LeaseSight } from './lease-sight.js'

/** By UID. A folder that does not exist holds none. @throws LeaseFault `io`. */
export function listLeases(eyes: LeaseSight, folder: LeaseFolder): ListedLease[] {
  const leases: ListedLease[] = []
  for (const name of namesIn(folder.path).sort()) {
    if (!name.endsWith(LEASE_SUFFIX)) continue
    const listed = lineOf(eyes, folder.pathsOfKey(name.slice(0, -LEASE_SUFFIX.length)))
    if (listed !== undefined) leases.push(listed)
  }
  return leases
}

function lineOf(eyes: LeaseSight, paths: LeasePaths): ListedLease | undefined {
  const sight = eyes.settled(paths.key, paths.lease)
  if (sight.kind === 'missing') return undefined
  const place = { uid: paths.key, holder: eyes.holder(sight), path: paths.lease }
  if (sight.kind === 'unreadable') return { ...place, state: 'unreadable', renewedAtMs: 0, driverPid: 0 }
  const verdict = eyes.judge(paths.key, paths, sight)
  const state = verdict.kind === 'over' ? verdict.why : verdict.kind === 'live' ? 'held' : 'unknown'
  return { ...place, state, renewedAtMs: sight.record.renewed_at_ms, driverPid: sight.record.driver_pid }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw ioFault('read the folder', folder, error)
  }
}
