/**
 * One builder per kind of refusal: puts the sentence, the exit code and the data together. They throw for nothing that
 * the types allow: a refusal has to come out whatever a lease file or another host said.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { deniedMessage, lanDeniedMessage, wanDeniedMessage } from './denied-message.js'
import { EXIT_CODES } from './exit-codes.js'
import { type LeaseIoFault, leaseIoMessage } from './lease-io-message.js'
import { type LockingProcess, lockStuckMessage } from './lock-stuck-message.js'
import type { LossReason } from './loss-reason.js'
import { type LostOptions, lostMessage } from './lost-message.js'
import type { AdviceOptions } from './next-action.js'
import { LENGTHS, plainAgent, plainHolder, plainNumber, plainProcesses } from './plain-data.js'
import { plainText } from './plain-text.js'
import { processesRemainMessage } from './processes-remain-message.js'
import type {
  HeldRefusal,
  IoRefusal,
  LostRefusal,
  ProcessesRemainRefusal,
  TakenOverRefusal,
  UnknownRefusal,
  WaitRanOutRefusal
} from './refusal.js'
import type { RemainingProcess } from './remaining-process.js'
import { takenOverMessage } from './taken-over-message.js'
import { type UnknownOptions, unknownMessage } from './unknown-message.js'
import { type WaitRanOutOptions, waitRanOutMessage } from './wait-ran-out-message.js'

/** When to try again, where that is known. */
export interface RetryOptions {
  /** Milliseconds from now. */
  readonly retryAfterMs?: number | undefined
}

export interface TakenOverRefusalOptions extends AdviceOptions, RetryOptions {
  /** Whether the agent was running here when it was taken over, so that a command of ours was stopped (exit 76, not 75). */
  readonly wasRunning?: boolean | undefined
}

export interface LockStuckOptions extends RetryOptions {
  /** Who is inside the lock, if known. */
  readonly process?: LockingProcess | undefined
}

/** The holder's place chooses the sentence. `nowMs`, here and below: our wall clock, Unix milliseconds. */
export function heldRefusal(
  agent: AgentRef,
  holder: Holder,
  nowMs: number,
  options: AdviceOptions & RetryOptions = {}
): HeldRefusal {
  const say = { 'this-host': deniedMessage, lan: lanDeniedMessage, relay: wanDeniedMessage }[holder.place]
  return {
    kind: 'held',
    agent: plainAgent(agent),
    holder: plainHolder(holder),
    message: say(agent, holder, nowMs, options),
    exitCode: EXIT_CODES.heldElsewhere,
    ...retryAfter(options)
  }
}

export function takenOverRefusal(
  agent: AgentRef,
  holder: Holder | undefined,
  nowMs: number,
  options: TakenOverRefusalOptions = {}
): TakenOverRefusal {
  return {
    kind: 'taken-over',
    agent: plainAgent(agent),
    message: takenOverMessage(agent, holder, nowMs, options),
    exitCode: options.wasRunning ? EXIT_CODES.leaseLost : EXIT_CODES.heldElsewhere,
    ...knownHolder(holder),
    ...retryAfter(options)
  }
}

export function lostRefusal(
  agent: AgentRef,
  reason: LossReason,
  nowMs: number,
  options: LostOptions = {}
): LostRefusal {
  return {
    kind: 'lost',
    agent: plainAgent(agent),
    reason,
    message: lostMessage(agent, reason, nowMs, options),
    exitCode: EXIT_CODES.leaseLost,
    ...knownHolder(options.holder)
  }
}

export function unknownRefusal(
  agent: AgentRef,
  retryAfterMs: number,
  nowMs: number,
  options: UnknownOptions = {}
): UnknownRefusal {
  return {
    kind: 'unknown',
    agent: plainAgent(agent),
    retryAfterMs: plainNumber(retryAfterMs),
    message: unknownMessage(agent, retryAfterMs, nowMs, options),
    exitCode: EXIT_CODES.couldNotFindOut,
    ...(options.reason === undefined ? {} : { reason: options.reason }),
    ...knownHolder(options.holder)
  }
}

export function leaseIoRefusal(agent: AgentRef, fault: LeaseIoFault, options: RetryOptions = {}): IoRefusal {
  const code = plainText(fault.code, LENGTHS.code)
  return {
    kind: 'io',
    agent: plainAgent(agent),
    path: plainText(fault.path, LENGTHS.path),
    message: leaseIoMessage(agent, fault),
    exitCode: EXIT_CODES.couldNotFindOut,
    ...(code ? { code } : {}),
    ...retryAfter(options)
  }
}

/** Of kind `io`: for the reader a lock that is not given back is a lease file that cannot be used. `path`: the lock file. */
export function lockStuckRefusal(agent: AgentRef, path: string, options: LockStuckOptions = {}): IoRefusal {
  return {
    kind: 'io',
    agent: plainAgent(agent),
    path: plainText(path, LENGTHS.path),
    message: lockStuckMessage(agent, path, options.process),
    exitCode: EXIT_CODES.couldNotFindOut,
    ...retryAfter(options)
  }
}

export function processesRemainRefusal(
  agent: AgentRef,
  processes: readonly RemainingProcess[],
  options: RetryOptions = {}
): ProcessesRemainRefusal {
  return {
    kind: 'processes-remain',
    agent: plainAgent(agent),
    processes: plainProcesses(processes),
    message: processesRemainMessage(agent, processes),
    exitCode: EXIT_CODES.heldElsewhere,
    ...retryAfter(options)
  }
}

export function waitRanOutRefusal(
  agent: AgentRef,
  waitedMs: number,
  nowMs: number,
  options: WaitRanOutOptions = {}
): WaitRanOutRefusal {
  return {
    kind: 'wait-ran-out',
    agent: plainAgent(agent),
    waitedMs: plainNumber(waitedMs),
    message: waitRanOutMessage(agent, waitedMs, nowMs, options),
    exitCode: EXIT_CODES.waitRanOut,
    ...knownHolder(options.holder)
  }
}

function knownHolder(holder: Holder | undefined): { holder?: Holder } {
  return holder ? { holder: plainHolder(holder) } : {}
}

function retryAfter({ retryAfterMs }: RetryOptions): { retryAfterMs?: number } {
  return retryAfterMs === undefined ? {} : { retryAfterMs: plainNumber(retryAfterMs) }
}
