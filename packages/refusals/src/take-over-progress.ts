/** What the person reads who takes an agent over: the question before, the line meanwhile, and what came of it. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentAtStart, agentInside } from './agent-label.js'
import { remainingText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { type AdviceOptions, runCommand } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'

/** To be answered by a person at a terminal (R5). `nowMs`, here and below: our wall clock, Unix milliseconds. */
export function takeOverQuestion(agent: AgentRef, holder: Holder, nowMs: number): string {
  return withOnlyMarker(
    `${agentAtStart(agent)} is driven ${holderText(holder, nowMs)}. Taking it over stops it there, and what it is doing is cut short. Take it over?`
  )
}

/** The holder has been asked and is given the time to end what it does. */
export function askingToLetGoMessage(agent: AgentRef, holder: Holder, nowMs: number): string {
  return withOnlyMarker(
    `Asking the instance that drives ${agentInside(agent)} ${holderText(holder, nowMs)} to let it go.`
  )
}

/** The agent is free and kept for `keptMs`. `from`: who had it, if anybody. */
export function reservedMessage(
  agent: AgentRef,
  keptMs: number,
  nowMs: number,
  options: AdviceOptions & { readonly from?: Holder | undefined } = {}
): string {
  const was = options.from
    ? `was let go ${holderText(options.from, nowMs)} and is kept`
    : 'is driven by nobody and kept'
  return withOnlyMarker(
    `${agentAtStart(agent)} ${was} for this channel for ${remainingText(keptMs)}. Start it with ${runCommand(agent, options)}.`
  )
}
