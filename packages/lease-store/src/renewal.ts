/**
 * What a renewal does under the key's lock: one write of the same length into the same file, through the descriptor it
 * was read from, so that it can never land in a file that took the place. Not synced: losing it makes a lease look older.
 */
import { closeSync, constants, openSync } from 'node:fs'
import type { Clock } from '@agentmux/lease-model'
import { MAX_IN_PLACE_BYTES, overwrite, replaceFile } from './durable-file.js'
import { type Driver, type Lease, leaseOf, type RenewResult } from './lease.js'
import { ioFault } from './lease-fault.js'
import type { LeasePaths } from './lease-paths.js'
import { formatRecord, formatToLength, type LeaseRecord } from './lease-record.js'
import type { LeaseSight } from './lease-sight.js'
import { lossOf } from './loss.js'
import { asFileText, missingOrOdd, readDescriptor, SAFE } from './small-file.js'

const READ_WRITE = constants.O_RDWR | SAFE

export interface Renewer {
  readonly clock: Clock
  readonly eyes: LeaseSight
}

export function renewUnderLock(
  renewer: Renewer,
  paths: LeasePaths,
  { lease, driver }: { lease: Lease; driver: Driver | undefined }
): RenewResult {
  let descriptor: number
  try {
    descriptor = openSync(paths.lease, READ_WRITE)
  } catch (error) {
    const sight = renewer.eyes.understand(paths.key, missingOrOdd(paths.lease, error))
    return { kind: 'lost', loss: lossOf(lease, sight, renewer.eyes) ?? { why: 'missing' } }
  }
  try {
    return renewOpen(renewer, paths, { lease, driver, descriptor })
  } finally {
    closeSync(descriptor)
  }
}

function renewOpen(
  { clock, eyes }: Renewer,
  paths: LeasePaths,
  { lease, driver, descriptor }: { lease: Lease; driver: Driver | undefined; descriptor: number }
): RenewResult {
  const sight = eyes.understand(paths.key, readOpen(paths.lease, descriptor))
  const loss = lossOf(lease, sight, eyes)
  if (sight.kind !== 'record') return { kind: 'lost', loss: loss ?? { why: 'unreadable' } }
  if (loss !== undefined) return { kind: 'lost', loss }
  const before = sight.record
  // A copy with the same keys in the same places; those nobody here knows among them.
  const record: LeaseRecord = {
    ...before,
    renewed_at_ms: clock.wallMs(),
    renewed_boot_ms: clock.bootMs(),
    driver_pid: driver?.pid ?? before.driver_pid,
    driver_start_ticks: driver?.startTicks ?? before.driver_start_ticks
  }
  eyes.wrote(paths.key, write(paths.lease, record, { descriptor, before: sight.text }), record)
  return { kind: 'renewed', lease: leaseOf(record) }
}

/** Returns the text that stands in the file now. */
function write(
  path: string,
  record: LeaseRecord,
  { descriptor, before }: { descriptor: number; before: string }
): string {
  const bytes = before.length <= MAX_IN_PLACE_BYTES ? formatToLength(record, before.length) : undefined
  if (bytes === undefined) {
    const text = formatRecord(record)
    replaceFile(path, text)
    return asFileText(text)
  }
  try {
    overwrite(descriptor, bytes, before)
  } catch (error) {
    throw ioFault('renew', path, error)
  }
  return bytes.toString('latin1')
}

function readOpen(path: string, descriptor: number) {
  try {
    return readDescriptor(descriptor)
  } catch (error) {
    return missingOrOdd(path, error)
  }
}
