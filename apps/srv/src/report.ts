/** How an answer reaches whoever asked: a sentence on stderr, or with --json one JSON object that a program reads. */
import { HOLD_MS } from '@agentmux/host-admission'
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { type AdviceOptions, EXIT_CODES, type Refusal, takenOverRefusal } from '@agentmux/refusals'
import { print, say, writeError } from './output.js'

export interface ReportFlags {
  readonly json?: boolean | undefined
}

/** Something failed that is no refusal. Returns the exit code, for the caller to end with. */
export function fail(flags: ReportFlags, exitCode: number, message: string): number {
  if (flags.json) print(errorJson(exitCode, message))
  else say(message)
  return exitCode
}

export function errorJson(exitCode: number, message: string): string {
  return JSON.stringify({ error: { exitCode, message } })
}

/** Nothing was started; so with --json the refusal is all that is on stdout. */
export function refuse(flags: ReportFlags & { readonly conflictExitCode: number }, refusal: Refusal): number {
  if (flags.json) print(JSON.stringify({ refusal }))
  else say(refusal.message)
  return refusal.exitCode === EXIT_CODES.heldElsewhere ? flags.conflictExitCode : refusal.exitCode
}

/** The command's output may be on stdout by now, so even with --json the loss goes to stderr. */
export function reportLoss(flags: ReportFlags, refusal: Refusal): number {
  if (flags.json) writeError(`${JSON.stringify({ refusal })}\n`)
  else say(refusal.message)
  return EXIT_CODES.leaseLost
}

/** A person took the agent to another instance on this computer, and it has been given up for that. */
export function reportHandOver(
  flags: ReportFlags,
  agent: AgentRef,
  by: {
    readonly hostname: string
    readonly channel: string
    readonly version: string
    readonly nowMs: number
    readonly advice: AdviceOptions
  }
): number {
  const { nowMs, advice, ...named } = by
  const holder: Holder = {
    ...named,
    place: 'this-host',
    pid: 0,
    acquiredAtMs: 0,
    epoch: 0,
    blockId: ''
  }
  const options = { ...advice, retryAfterMs: HOLD_MS, wasRunning: true }
  return reportLoss(flags, takenOverRefusal(agent, holder, nowMs, options))
}
