/**
 * What is read when a take-over did not come about: why, where the agent still runs as far as is known, and the way out.
 * It carries no marker: who reads it has tried to take over already.
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { durationText } from './duration-text.js'
import { holderText } from './holder-text.js'
import { type AdviceOptions, canAdvise, statusSentence } from './next-action.js'
import { withOnlyMarker } from './only-marker.js'
import { plainText } from './plain-text.js'

export const TAKE_OVER_FAILURES = Object.freeze([
  'another-computer',
  'not-running',
  'refused',
  'too-old',
  'no-answer',
  'ran-out',
  'outrun'
] as const)

/**
 * - `another-computer`: its lease was written on another computer that shares the folder
 * - `not-running`: the instance that its lease names is not there to be asked
 * - `refused`: that instance was asked and said no
 * - `too-old`: that instance does not know the request
 * - `no-answer`: that instance did not answer, or not as the protocol says
 * - `ran-out`: the agent was not free in time
 * - `outrun`: another take-over at the same time has it
 */
export type TakeOverFailure = (typeof TAKE_OVER_FAILURES)[number]

export interface TakeOverOptions extends AdviceOptions {
  /** Who still has the agent, or has it now, if known. */
  readonly holder?: Holder | undefined
  /** The words with which the holder refused, if it gave any. */
  readonly said?: string | undefined
  /** For how long the holder was waited for, milliseconds. */
  readonly waitedMs?: number | undefined
}

const SAID_LENGTH = 512

/** `nowMs`: our wall clock, Unix milliseconds. */
export function takeOverMessage(
  agent: AgentRef,
  failure: TakeOverFailure,
  nowMs: number,
  options: TakeOverOptions = {}
): string {
  const at = options.holder ? ` ${holderText(options.holder, nowMs)}` : ''
  const status =
    canAdvise('status', options) && failure !== 'another-computer' ? ` ${statusSentence(options)}` : ''
  const why = whyNot(failure, at, options)
  return withOnlyMarker(`${agentAtStart(agent)} was not taken over: ${why}${status}`)
}

function whyNot(failure: TakeOverFailure, at: string, { said, waitedMs }: TakeOverOptions): string {
  switch (failure) {
    case 'another-computer':
      return `its lease was written${at || ' on another computer'}, which uses the same shared folder. End it there, then start it here.`
    case 'not-running':
      return `the instance that its lease names${at} is not there to be asked. If that one has ended, the lease runs out by itself in moments; if it runs, end the agent there.`
    case 'refused':
      return `the instance that drives it${at} refused${saidText(said)}. End the agent there, or try again.`
    case 'too-old':
      return `the instance that drives it${at} is too old to be asked. End the agent there, then start it here.`
    case 'no-answer':
      return `the instance that drives it${at} did not answer. Try again, or end the agent there.`
    case 'ran-out':
      return `it was not free${waitedMs === undefined ? ' in time' : ` within ${durationText(waitedMs)}`}${at && `; still driven${at}`}. Try again: it may be about to end.`
    case 'outrun':
      return `somebody else took it over at the same time, and it is kept for them${at}. Leave it there, or take it over once more.`
  }
}

function saidText(said: string | undefined): string {
  const words = plainText(said, SAID_LENGTH).replace(/[.\s]+$/u, '')
  return words ? `, saying "${words}"` : ''
}
