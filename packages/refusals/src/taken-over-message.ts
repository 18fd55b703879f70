/** What is read where an agent was, after a person moved it elsewhere (R5): who has it now, and that this was meant. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { remainingText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { TAKEN_OVER_MARKER } from './markers.js'
import { type AdviceOptions, nextSteps } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'

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
  const kept =
    options.retryAfterMs !== undefined && options.retryAfterMs > 0
      ? ` It is kept for that instance for another ${remainingText(options.retryAfterMs)}.`
      : ''
  const next = nextSteps(agent, holder?.place ?? 'this-host', options)
  return withOnlyMarker(
    `${agentAtStart(agent)} was taken over by another AgentMux instance${by}.${kept}${next}`,
    TAKEN_OVER_MARKER
  )
}
