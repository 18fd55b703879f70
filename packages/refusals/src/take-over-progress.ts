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

/**
 * - `let-go`: it said that it let the agent go
 * - `ended`: it gave the agent up and did not say so: its command had ended, say
 * - `died`: it is dead, and left its lease behind
 * - `ran-out`: it did not answer until its lease had run out: it is stopped, or stuck
 */
export type FreedHow = 'let-go' | 'ended' | 'died' | 'ran-out'

export interface ReservedOptions extends AdviceOptions {
  /** Who had it, if anybody. */
  readonly from?: Holder | undefined
  /** How it came free; `let-go` unless given. */
  readonly how?: FreedHow | undefined
}

/** The agent is free and kept for `keptMs`. */
export function reservedMessage(
  agent: AgentRef,
  keptMs: number,
  nowMs: number,
  options: ReservedOptions = {}
): string {
  const kept = `kept for this channel for ${remainingText(keptMs)}`
  const what = options.from
    ? freedFrom(holderText(options.from, nowMs), options.how ?? 'let-go', kept)
    : `is driven by nobody and ${kept}`
  return withOnlyMarker(`${agentAtStart(agent)} ${what}. Start it with ${runCommand(agent, options)}.`)
}

function freedFrom(at: string, how: FreedHow, kept: string): string {
  const left = 'Whatever it has left running is ended when the agent is started'
  switch (how) {
    case 'let-go':
      return `was let go ${at} and is ${kept}`
    case 'ended':
      return `came to its end ${at} and is ${kept}`
    case 'died':
      return `is ${kept}: the instance that drove it ${at} has died. ${left}`
    case 'ran-out':
      return `is ${kept}: the instance that drove it ${at} is stopped or stuck, and its lease has run out. ${left}`
  }
}
