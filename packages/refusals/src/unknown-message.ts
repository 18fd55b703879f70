/**
 * What is read when the lease alone does not tell whether its holder lives (R8, R14): why, and how long watching takes.
 * It carries no marker: perhaps nobody holds the agent.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentInside } from './agent-label.js'
import { remainingText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { type AdviceOptions, canAdvise, runCommand } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'

export const UNKNOWN_REASONS = Object.freeze([
  'unreadable',
  'another-host',
  'another-clock',
  'older-build'
] as const)

/**
 * - `unreadable`: the lease file is damaged
 * - `another-host`: the lease was written on another host
 * - `another-clock`: it was written before a restart, or in another time namespace
 * - `older-build`: its writer did not record what would tell
 */
export type UnknownReason = (typeof UNKNOWN_REASONS)[number]

export interface UnknownOptions extends AdviceOptions {
  readonly reason?: UnknownReason | undefined
  /** Whom the lease names, if it names anyone. */
  readonly holder?: Holder | undefined
}

/** `watchMs`: how much longer the lease has to be watched. `nowMs`: our wall clock, Unix milliseconds. */
export function unknownMessage(
  agent: AgentRef,
  watchMs: number,
  nowMs: number,
  options: UnknownOptions = {}
): string {
  const named = options.holder ? `; it names a holder ${holderText(options.holder, nowMs)}` : ''
  const watch = canAdvise('watch', options)
    ? ` ${runCommand(agent, options)}, without -n, watches that long and starts it if nothing moves.`
    : ''
  return withOnlyMarker(
    `Whether ${agentInside(agent)} is still driven could not be found out: ${whyUnknown(options.reason)}${named}. Only watching the lease for ${remainingText(watchMs)} can tell.${watch}`
  )
}

function whyUnknown(reason: UnknownReason | undefined): string {
  switch (reason) {
    case 'unreadable':
      return 'its lease cannot be read'
    case 'another-host':
      return 'its lease was written on another host'
    case 'another-clock':
      return 'its lease was written before a restart or by another clock'
    case 'older-build':
      return 'its lease was written by an older build'
    case undefined:
      return 'its lease does not tell'
  }
}
