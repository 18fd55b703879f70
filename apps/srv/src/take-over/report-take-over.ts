/** What came of a take-over, for the person, for a program (--json), and as the exit code. */
import { HOLD_MS } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { type AdviceOptions, EXIT_CODES, reservedMessage } from '@agentmux/refusals'
import { print, say } from '../output.js'
import type { ReportFlags } from '../report.js'
import type { ConfirmedTakeOver } from './confirm-and-take-over.js'

export type TakenOver = Extract<ConfirmedTakeOver, { kind: 'free' | 'released' | 'this-process' }>
export type NotTakenOver = Exclude<ConfirmedTakeOver, TakenOver>

export function isTakenOver(result: ConfirmedTakeOver): result is TakenOver {
  return result.kind === 'free' || result.kind === 'released' || result.kind === 'this-process'
}

/** `advice`: what the next command has to be given again. */
export function reportTakenOver(
  flags: ReportFlags,
  result: TakenOver,
  { agent, nowMs, advice }: { agent: AgentRef; nowMs: number; advice: AdviceOptions }
): number {
  if (flags.json) {
    print(JSON.stringify({ takeOver: { ...result, agent, keptMs: HOLD_MS } }))
    return 0
  }
  const freed = result.kind === 'released' ? { from: result.holder, how: result.how } : {}
  say(reservedMessage(agent, HOLD_MS, nowMs, { ...advice, ...freed }))
  return 0
}

/** Returns the exit code. */
export function reportNotTakenOver(
  flags: ReportFlags & { readonly conflictExitCode: number },
  result: NotTakenOver
): number {
  const exitCode = exitCodeOf(result, flags.conflictExitCode)
  const message =
    result.kind === 'declined' ? 'nothing was changed: the agent stays where it is' : result.message
  if (flags.json) print(JSON.stringify({ error: { exitCode, message }, takeOver: result }))
  else say(message)
  return exitCode
}

function exitCodeOf(result: NotTakenOver, heldElsewhere: number): number {
  switch (result.kind) {
    case 'not-permitted':
      return EXIT_CODES.usage
    case 'unknown':
      return EXIT_CODES.couldNotFindOut
    case 'ran-out':
      return EXIT_CODES.waitRanOut
    default:
      return heldElsewhere
  }
}
