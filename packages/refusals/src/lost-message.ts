/** What the person at a fenced holder reads (R4): why it drives the agent no longer, who has it now, and what to do. */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { holderText } from './holder-text.js'
import type { LossReason } from './loss-reason.js'
import { LOST_MARKER } from './markers.js'
import { type AdviceOptions, canAdvise, nextSteps, statusCommand } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'
import { plainText } from './plain-text.js'

export interface LostOptions extends AdviceOptions {
  /** Who has the agent now, if known. */
  readonly holder?: Holder | undefined
  /** What stood in the way of confirming: an errno text, say. */
  readonly detail?: string | undefined
}

const DETAIL_LENGTH = 200

/** `nowMs`: our wall clock, Unix milliseconds. */
export function lostMessage(
  agent: AgentRef,
  reason: LossReason,
  nowMs: number,
  options: LostOptions = {}
): string {
  const why = whyLost(reason, nowMs, options)
  const then = whatThen(agent, reason, options)
  return withOnlyMarker(
    `${agentAtStart(agent)} lost its single-instance lease: ${why}. This process no longer drives it.${then}`,
    LOST_MARKER
  )
}

function whyLost(reason: LossReason, nowMs: number, { holder, detail }: LostOptions): string {
  const held = holder ? `; it is now held ${holderText(holder, nowMs)}` : ''
  const cause = plainText(detail, DETAIL_LENGTH)
  switch (reason) {
    case 'other-owner':
      return `another owner took it${held}`
    case 'reclaimed':
      return 'its own process claimed it again, and only the newer claim counts'
    case 'unconfirmed':
      return `it could not be confirmed in time${cause ? ` (${cause})` : ''}${held}`
    case 'lease-removed':
      return `its lease file was removed${held}`
    case 'yielded':
      return `it also runs ${holder ? holderText(holder, nowMs) : 'on another computer on your network'}, and that one keeps it`
  }
}

function whatThen(agent: AgentRef, reason: LossReason, options: LostOptions): string {
  if (reason === 'reclaimed') return ' Go on with the newer claim.'
  if (reason === 'yielded') return nextSteps(agent, options.holder?.place ?? 'lan', options)
  if (reason === 'other-owner' || options.holder) {
    return nextSteps(agent, options.holder?.place ?? 'this-host', options)
  }
  const first =
    reason === 'unconfirmed' ? ' Once its lease folder answers, start it again' : ' Start it again'
  return canAdvise('status', options)
    ? `${first}; ${statusCommand(options)} shows whether it is still free.`
    : `${first}.`
}
