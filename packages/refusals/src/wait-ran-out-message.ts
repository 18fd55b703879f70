/**
 * What is read when the time given with `--wait` has passed. With a holder it is a held agent like any other, marker
 * included; without one it carries no marker.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { durationText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { HELD_MARKER } from './markers.js'
import { type AdviceOptions, nextSteps } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'

export interface WaitRanOutOptions extends AdviceOptions {
  /** Who held the agent when the time was up, if known. */
  readonly holder?: Holder | undefined
}

/** `waitedMs`: how long was waited. `nowMs`: our wall clock, Unix milliseconds. */
export function waitRanOutMessage(
  agent: AgentRef,
  waitedMs: number,
  nowMs: number,
  options: WaitRanOutOptions = {}
): string {
  const { holder } = options
  const next = nextSteps(agent, holder?.place ?? 'this-host', { ...options, waitedAlready: true })
  const late = `did not become free within ${durationText(waitedMs)}`
  return holder
    ? withOnlyMarker(
        `${agentAtStart(agent)} is already running in another AgentMux instance ${holderText(holder, nowMs)} and ${late}.${next}`,
        HELD_MARKER
      )
    : withOnlyMarker(`${agentAtStart(agent)} ${late}.${next}`)
}
