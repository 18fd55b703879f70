/**
 * The claim that decides whether an agent may be started: the hand-over hold first, then the lease, above every epoch in
 * the record (R10). A hold that is placed meanwhile still counts: it is asked again under the lease's own lock.
 */
import type { AgentRef, Clock } from '@agentmux/lease-model'
import { type ClaimResult, LARGEST_EPOCH, LeaseFault, type LeaseStore } from '@agentmux/lease-store'
import type { AdviceOptions, TakenOverRefusal } from '@agentmux/refusals'
import type { AcquireOptions, AcquireResult } from './admission-options.js'
import { RecordFault } from './record/record-fault.js'
import type { SharedRecord } from './record/shared-record.js'
import { refusalOfClaim } from './refusal-of.js'
import type { HandoverHolds } from './takeover/handover-holds.js'

export interface ClaimHome {
  readonly store: LeaseStore
  readonly holds: HandoverHolds
  readonly clock: Clock
  readonly record?: SharedRecord | undefined
  readonly advice?: AdviceOptions | undefined
}

export type GrantedClaim = Extract<ClaimResult, { kind: 'granted' }>
export type NotGranted = Exclude<AcquireResult, { kind: 'granted' }>

/** An I/O error at a claim is tried once more after this long. */
const CLAIM_RETRY_MS = 100

/** Why nobody may claim the agent here now, whoever holds it; undefined if there is no hold. Reads one small file. */
export function heldForAnother({ holds, advice }: ClaimHome, agent: AgentRef): NotGranted | undefined {
  const refusal = holds.refusalFor(agent, advice)
  return refusal && { kind: 'refused', refusal }
}

/** @throws LeaseFault, RecordFault; the signal's reason. Nothing is held then. */
export async function claimAtSpawn(
  home: ClaimHome,
  agent: AgentRef,
  { options, signal }: { options: AcquireOptions; signal: AbortSignal }
): Promise<GrantedClaim | NotGranted> {
  const { store, holds, clock, record, advice } = home
  const { blockId, sessionId, epochFloor = 0 } = options
  let hold: TakenOverRefusal | undefined
  const request = {
    agent,
    blockId,
    signal,
    epochFloor: Math.max(epochFloor, highestIn(record, agent)),
    unless: () => {
      hold = holds.refusalFor(agent, advice)
      return hold !== undefined
    },
    ...(sessionId === undefined ? {} : { sessionId })
  }
  const result = await tryTwice(
    () => store.claim(request),
    () => clock.sleep(CLAIM_RETRY_MS, signal)
  )
  if (result.kind === 'granted') {
    holds.dropExpired(agent.uid)
    return result
  }
  if (result.kind === 'withheld') {
    if (hold === undefined) throw new TypeError('a claim is withheld only by a hold')
    return { kind: 'refused', refusal: hold }
  }
  const refusal = refusalOfClaim(agent, result, { clock, advice })
  if (result.kind === 'refused') return { kind: 'refused', refusal }
  return { kind: 'unknown', refusal, retryAfterMs: result.retryAfterMs }
}

/** @throws RecordFault; also where no epoch is left to follow it, which only damage brings about. */
function highestIn(record: SharedRecord | undefined, { uid }: AgentRef): number {
  const highest = record?.highestEpoch(uid) ?? 0
  if (record === undefined || highest < LARGEST_EPOCH) return highest
  const path = record.pathOf(uid)
  throw new RecordFault(
    `the record in ${path} says that the epoch is ${highest}, which is the last there is: it is damaged. End what ` +
      'drives the agent, then move that folder away',
    { code: 'epochs-exhausted', path }
  )
}

async function tryTwice<T>(claim: () => Promise<T>, pause: () => Promise<void>): Promise<T> {
  try {
    return await claim()
  } catch (fault) {
    // A fault that names its own remedy will not go away by itself.
    if (!(fault instanceof LeaseFault) || fault.code !== 'io') throw fault
    await pause()
    return claim()
  }
}
