/** What is read where an agent was, after a person moved it elsewhere (R5): who has it now, and that this was meant. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { remainingText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { TAKEN_OVER_MARKER } from './markers.js'
import { type AdviceOptions, nextSteps, stepsWhileKept } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'
import { plainText } from './plain-text.js'

const CHANNEL_LENGTH = 64

export interface TakenOverOptions extends AdviceOptions {
  /** For how much longer the agent is kept for whoever took it over, milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** `holder`: who took it over, if known. `nowMs`: our wall clock, Unix milliseconds. */
export function takenOverMessage(
  agent: AgentRef,
  holder: Holder | undefined,
  nowMs: number,
  options: TakenOverOptions = {}
): string {
  const by = holder ? ` ${holderText(holder, nowMs)}` : ''
  const keptMs = options.retryAfterMs ?? 0
  const kept =
    keptMs > 0 ? ` It is kept for ${successorText(holder)} for another ${remainingText(keptMs)}.` : ''
  const next =
    keptMs > 0 ? stepsWhileKept(agent, options) : nextSteps(agent, holder?.place ?? 'this-host', options)
  return withOnlyMarker(
    `${agentAtStart(agent)} was taken over by another AgentMux instance${by}.${kept}${next}`,
    TAKEN_OVER_MARKER
  )
}

function successorText(holder: Holder | undefined): string {
  const channel = plainText(holder?.channel, CHANNEL_LENGTH)
  return channel === '' ? 'that instance' : `channel ${channel}`
}
