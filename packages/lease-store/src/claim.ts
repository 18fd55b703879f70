/**
 * What a claim decides and writes, under the key's lock. Nothing is granted before the epoch, the lease and the names of
 * both are on the disk, in this order; a kill anywhere in between costs an epoch and nothing else.
 */
import type { Clock, HostIdentity, InstanceIdentity } from '@agentmux/lease-model'
import { removeQuietly, replaceFile, syncFolder } from './durable-file.js'
import { LARGEST_EPOCH, nextEpoch, readEpoch, writeEpoch } from './epoch-file.js'
import type { Verdict } from './judgement.js'
import { type ClaimRequest, type ClaimResult, leaseOf, type PreviousClaim } from './lease.js'
import type { LeasePaths } from './lease-paths.js'
import { formatRecord, type LeaseRecord } from './lease-record.js'
import type { LeaseSight, Sight } from './lease-sight.js'
import { newRecord } from './new-record.js'
import { asFileText } from './small-file.js'

export interface Claimer {
  readonly instance: InstanceIdentity
  readonly host: HostIdentity
  readonly clock: Clock
  readonly ttlMs: number
  readonly folder: string
  readonly eyes: LeaseSight
  /** Whether the processes of a claim must be ended before its place is taken (R12). */
  readonly endsPrevious: boolean
}

/** What a claim found and cannot do under a lock: ending processes takes time. */
export interface EndFirst {
  readonly kind: 'end-first'
  readonly previous: PreviousClaim
}

export interface Attempt {
  readonly request: ClaimRequest
  /** The claim whose processes have been ended; anybody else's end first. */
  readonly endedClaimId: string | undefined
}

export function claimUnderLock(
  claimer: Claimer,
  paths: LeasePaths,
  attempt: Attempt
): ClaimResult | EndFirst {
  const { request } = attempt
  const sight = claimer.eyes.underLock(paths.key, paths.lease)
  if (sight.kind === 'missing') return grant(claimer, paths, request)
  const ours = sight.kind === 'record' && sight.record.owner_boot_id === claimer.instance.ownerBootId
  if (ours && (sight.record.block_id === '' || sight.record.block_id === request.blockId)) {
    return replace(claimer, paths, { ...attempt, taken: takenOver(claimer, sight, 'reclaimed') })
  }
  const verdict = claimer.eyes.judge(paths.key, paths, sight)
  if (verdict.kind !== 'over') return turnedAway(claimer, sight, verdict, ours)
  if (sight.kind !== 'record') return grant(claimer, paths, request)
  return replace(claimer, paths, { ...attempt, taken: takenOver(claimer, sight, verdict.why) })
}

/** The file is the only trace of the claim that stands in it: not overwritten before what ran under it has ended (R12). */
function replace(
  claimer: Claimer,
  paths: LeasePaths,
  { request, endedClaimId, taken }: Attempt & { taken: Taken }
): ClaimResult | EndFirst {
  const { claimId } = taken.previous
  if (claimer.endsPrevious && claimId !== '' && claimId !== endedClaimId) {
    return { kind: 'end-first', previous: taken.previous }
  }
  return grant(claimer, paths, request, taken)
}

/** The lease that was there comes back: its holder's, if the holder claims again; else the only trace of a claim (R12). */
function undo(path: string, taken: Taken | undefined): void {
  try {
    if (taken === undefined) removeQuietly(path)
    else replaceFile(path, Buffer.from(taken.text, 'latin1'))
  } catch {
    removeQuietly(path)
  }
}

/** The record whose place is taken, and the text it stood in. */
interface Taken {
  readonly record: LeaseRecord
  readonly text: string
  readonly previous: PreviousClaim
}

function takenOver(
  { eyes }: Claimer,
  sight: Extract<Sight, { kind: 'record' }>,
  why: PreviousClaim['why']
): Taken {
  const { record, text } = sight
  const previous: PreviousClaim = {
    uid: record.instance_id,
    claimId: record.claim_id,
    epoch: record.epoch,
    holder: eyes.holder(sight),
    why,
    driverPid: record.driver_pid,
    driverStartTicks: record.driver_start_ticks
  }
  return { record, text, previous }
}

function turnedAway(
  { eyes }: Claimer,
  sight: Exclude<Sight, { kind: 'missing' }>,
  verdict: Exclude<Verdict, { kind: 'over' }>,
  ours: boolean
): ClaimResult {
  const holder = eyes.holder(sight)
  if (verdict.kind === 'live' || ours) return { kind: 'refused', holder }
  return { kind: 'unknown', holder, retryAfterMs: verdict.retryAfterMs }
}

function grant(claimer: Claimer, paths: LeasePaths, request: ClaimRequest, taken?: Taken): ClaimResult {
  if (request.unless?.() === true) return { kind: 'withheld' }
  const { clock, eyes, folder } = claimer
  const epochFloor = request.epochFloor ?? 0
  const wallMs = clock.wallMs()
  const reclaimed = taken?.previous.why === 'reclaimed' ? taken.record : undefined
  let epoch = reclaimed?.epoch ?? 0
  // A re-claim keeps its epoch, unless it has none, a damaged one, or the caller has seen a higher one elsewhere.
  if (epoch === 0 || epoch > LARGEST_EPOCH || epoch < epochFloor) {
    const counter = readEpoch(paths.epoch)
    epoch = nextEpoch({ counter, lease: taken?.record.epoch ?? 0, floor: epochFloor, wallMs })
    // Before the lease: an epoch that was given is never given again, even if the next line fails.
    writeEpoch(paths.epoch, epoch)
  }
  const record = newRecord(claimer, {
    key: paths.key,
    blockId: request.blockId,
    sessionId: request.sessionId ?? null,
    acquiredAtMs: reclaimed?.acquired_at_ms ?? wallMs,
    wallMs,
    epoch
  })
  const text = formatRecord(record)
  replaceFile(paths.lease, text)
  try {
    syncFolder(folder)
  } catch (error) {
    // What is not known to be on the disk is not granted, and must not keep others away either.
    undo(paths.lease, taken)
    throw error
  }
  eyes.forget(paths.key)
  eyes.wrote(paths.key, asFileText(text), record)
  const lease = leaseOf(record)
  return taken === undefined
    ? { kind: 'granted', lease }
    : { kind: 'granted', lease, previous: taken.previous }
}
