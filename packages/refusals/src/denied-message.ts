/**
 * What a newcomer reads when the agent is held (R2): who holds it, where, for how long, and what to do. One sentence
 * per tier; each carries the marker of a held agent and no other.
 */
import type { AgentRef, Holder, Place } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { holderText } from './holder-text.js'
import { HELD_MARKER } from './markers.js'
import { type AdviceOptions, nextSteps } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'

/** The agent runs on this host. `nowMs`: our wall clock, Unix milliseconds. */
export function deniedMessage(
  agent: AgentRef,
  holder: Holder,
  nowMs: number,
  options: AdviceOptions = {}
): string {
  return deniedAt('this-host', { agent, holder, nowMs, options })
}

/** The agent runs on another computer on the network. */
export function lanDeniedMessage(
  agent: AgentRef,
  holder: Holder,
  nowMs: number,
  options: AdviceOptions = {}
): string {
  return deniedAt('lan', { agent, holder, nowMs, options })
}

/** The agent runs on another computer; the relay says so. */
export function wanDeniedMessage(
  agent: AgentRef,
  holder: Holder,
  nowMs: number,
  options: AdviceOptions = {}
): string {
  return deniedAt('relay', { agent, holder, nowMs, options })
}

interface Denial {
  readonly agent: AgentRef
  readonly holder: Holder
  readonly nowMs: number
  readonly options: AdviceOptions
}

function deniedAt(place: Place, { agent, holder, nowMs, options }: Denial): string {
  const where = holderText({ ...holder, place }, nowMs)
  return withOnlyMarker(
    `${agentAtStart(agent)} is already running in another AgentMux instance ${where}.${nextSteps(agent, place, options)}`,
    HELD_MARKER
  )
}
