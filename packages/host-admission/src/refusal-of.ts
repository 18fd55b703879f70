/** Turns what the lease store says into what a person reads. */
import type { AgentRef, Clock } from '@agentmux/lease-model'
import type { ClaimResult, LeaseFault, Loss } from '@agentmux/lease-store'
import {
  type AdviceOptions,
  heldRefusal,
  type LossReason,
  leaseIoRefusal,
  lockStuckRefusal,
  lostRefusal,
  processesRemainRefusal,
  REMAINS_BECAUSE,
  type Refusal,
  type RemainingProcess,
  type RemainsBecause,
  unknownRefusal
} from '@agentmux/refusals'
import { lockingProcess } from './locking-process.js'
import type { RecordFault } from './record/record-fault.js'

export function refusalOfClaim(
  agent: AgentRef,
  result: Exclude<ClaimResult, { kind: 'granted' | 'withheld' }>,
  { clock, advice = {} }: { clock: Clock; advice?: AdviceOptions | undefined }
): Refusal {
  const nowMs = clock.wallMs()
  if (result.kind === 'unknown') {
    const named = result.holder.hostname !== '' || result.holder.pid > 0
    const known = named ? { holder: result.holder } : { reason: 'unreadable' as const }
    return unknownRefusal(agent, result.retryAfterMs, nowMs, { ...advice, ...known })
  }
  if (result.remaining !== undefined) {
    const remaining = result.remaining.map(({ pid, command, why }) => ({
      pid,
      command,
      because: because(why)
    }))
    return refusalOfRemaining(agent, remaining)
  }
  return heldRefusal(agent, result.holder, nowMs, advice)
}

export function refusalOfRemaining(agent: AgentRef, processes: readonly RemainingProcess[]): Refusal {
  return processesRemainRefusal(agent, processes)
}

export function refusalOfFault(agent: AgentRef, fault: LeaseFault | RecordFault): Refusal {
  if (fault.code === 'lock-timeout') {
    return lockStuckRefusal(agent, fault.path, { process: lockingProcess(fault) })
  }
  return leaseIoRefusal(agent, { path: fault.path, code: fault.errno ?? '', text: fault.message })
}

const REASONS: Record<Loss['why'], LossReason> = {
  taken: 'other-owner',
  'reclaimed-here': 'reclaimed',
  missing: 'lease-removed',
  unreadable: 'lease-removed'
}

export function refusalOfLoss(agent: AgentRef, loss: Loss, clock: Clock): Refusal {
  const options = loss.holder === undefined ? {} : { holder: loss.holder }
  return lostRefusal(agent, REASONS[loss.why], clock.wallMs(), options)
}

export function refusalOfUnconfirmed(agent: AgentRef, clock: Clock): Refusal {
  return lostRefusal(agent, 'unconfirmed', clock.wallMs())
}

/** The store carries the reason as a word; one it does not know came from elsewhere. */
function because(why: string): RemainsBecause {
  return REMAINS_BECAUSE.find((known) => known === why) ?? 'unverified'
}
