/** The lines a person sees while a command waits. They are no refusals and carry no marker. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentInside } from './agent-label.js'
import { durationText, remainingText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { withOnlyMarker } from './only-marker.js'

export interface WaitingOptions {
  /** How long it has been waited already. */
  readonly waitedMs?: number | undefined
  /** How long will be waited at most; without it, for ever. */
  readonly limitMs?: number | undefined
}

/** Nobody can say yet whether the holder lives; the lease is being watched for `remainingMs` more. */
export function watchingMessage(agent: AgentRef, remainingMs: number): string {
  return withOnlyMarker(
    `Watching the lease of ${agentInside(agent)} for ${remainingText(remainingMs)}, to see whether its holder is alive.`
  )
}

/** The agent is held and will be waited for. `nowMs`: our wall clock, Unix milliseconds. */
export function waitingMessage(
  agent: AgentRef,
  holder: Holder,
  nowMs: number,
  { waitedMs, limitMs }: WaitingOptions = {}
): string {
  const times = [
    ...(waitedMs === undefined ? [] : [`${durationText(waitedMs)} so far`]),
    ...(limitMs === undefined ? [] : [`at most ${durationText(limitMs)}`])
  ]
  return withOnlyMarker(
    `Waiting for ${agentInside(agent)}, held ${holderText(holder, nowMs)}${times.length > 0 ? `: ${times.join(', ')}` : ''}.`
  )
}
