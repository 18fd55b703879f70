/**
 * What a refused person can do next, as command lines that can be typed. Only actions the caller says exist are named;
 * the default names those every build has, so that no sentence advises a command that is not there.
 */
import type { AgentRef, Place } from '@agentmux/lease-model'
import { plainText } from './plain-text.js'

/**
 * - `end`: end the agent where it runs
 * - `wait`: `run --wait`; a `run` is not held at the relay, so it is not advised for an agent that has moved there
 * - `watch`: `run` without `-n`, where only watching can tell
 * - `status`: the `status` command
 * - `take-over`: the `take-over` command
 */
export type NextAction = 'end' | 'wait' | 'watch' | 'status' | 'take-over'

/** What exists everywhere, daemon or not. */
export const DEFAULT_NEXT_ACTIONS: readonly NextAction[] = Object.freeze(['end', 'wait', 'watch', 'status'])

/** What every sentence that gives advice accepts. */
export interface AdviceOptions {
  /** What can be advised, in the order to name it; DEFAULT_NEXT_ACTIONS unless given, nothing if empty. */
  readonly actions?: readonly NextAction[] | undefined
  /** How the reader starts the command line; `agentmux-srv` unless given. */
  readonly program?: string | undefined
  /** What the reader gave the command line, and has to give again: the agent is looked for there. */
  readonly given?: GivenFlags | undefined
}

export interface GivenFlags {
  readonly sharedDir?: string | undefined
  readonly channel?: string | undefined
}

const PROGRAM_LENGTH = 64
/** What every shell takes as it stands. */
const PLAIN_WORD = /^[A-Za-z0-9/._+@:][A-Za-z0-9/._+@:-]{0,255}$/

export function canAdvise(action: NextAction, options: AdviceOptions): boolean {
  return (options.actions ?? DEFAULT_NEXT_ACTIONS).includes(action)
}

/** The advice for an agent that something at `place` holds: whole sentences after a space, or nothing. */
export function nextSteps(
  agent: AgentRef,
  place: Place,
  options: AdviceOptions & { readonly waitedAlready?: boolean } = {}
): string {
  const here = place === 'this-host'
  const ways: string[] = []
  for (const action of new Set(options.actions ?? DEFAULT_NEXT_ACTIONS)) {
    if (action === 'end') ways.push(here ? 'end it where it runs' : 'end it on that computer')
    if (action === 'wait' && place !== 'relay') {
      ways.push(
        `${options.waitedAlready ? 'wait longer' : 'wait for it'} with ${waitCommand(agent, options)}`
      )
    }
    if (action === 'take-over') {
      // What was given here, a folder or a channel, means nothing over there.
      ways.push(
        here
          ? `move it here with ${takeOverCommand(agent, options)}`
          : `free it on that computer with ${takeOverCommand(agent, { ...options, given: undefined })}`
      )
    }
  }
  const advice = ways.length > 0 ? ` ${capitalised(alternatives(ways))}.` : ''
  // `status` reads the leases of this host; of another computer it knows nothing.
  return here && canAdvise('status', options) ? `${advice} ${statusSentence(options)}` : advice
}

/** The advice for an agent that is kept for whoever took it over: nothing runs yet that could be ended. */
export function stepsWhileKept(agent: AgentRef, options: AdviceOptions): string {
  const ways: string[] = []
  if (canAdvise('wait', options)) ways.push(`wait until then, with ${waitCommand(agent, options)}`)
  if (canAdvise('take-over', options)) {
    ways.push(`take it back with ${takeOverCommand(agent, options)}, which a person has to confirm`)
  }
  const advice = ways.length > 0 ? ` ${capitalised(alternatives(ways))}.` : ''
  return canAdvise('status', options) ? `${advice} ${statusSentence(options)}` : advice
}

export function statusSentence(options: AdviceOptions): string {
  return `${statusCommand(options)} shows who holds what on this host.`
}

export function statusCommand(options: AdviceOptions): string {
  return `\`${programOf(options)} status${flagsOf({ ...options.given, channel: undefined })}\``
}

export function runCommand(agent: AgentRef, options: AdviceOptions): string {
  return `\`${programOf(options)} run --uid ${typedUid(agent)}${flagsOf(options.given)} -- CMD…\``
}

function waitCommand(agent: AgentRef, options: AdviceOptions): string {
  return `\`${programOf(options)} run --uid ${typedUid(agent)} --wait${flagsOf(options.given)} -- CMD…\``
}

function takeOverCommand(agent: AgentRef, options: AdviceOptions): string {
  return `\`${programOf(options)} take-over ${typedUid(agent)}${flagsOf(options.given)}\``
}

function programOf(options: AdviceOptions): string {
  return plainText(options.program, PROGRAM_LENGTH) || 'agentmux-srv'
}

/** The UID where a shell takes it as it stands; otherwise the word UID, so that a pasted line never does anything else. */
function typedUid(agent: AgentRef): string {
  return /^[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}$/.test(agent.uid) ? agent.uid : 'UID'
}

function flagsOf({ channel, sharedDir }: GivenFlags = {}): string {
  return `${flag('--channel', channel, 'CHANNEL')}${flag('--shared-dir', sharedDir, 'DIR')}`
}

/** As a shell takes it; otherwise the word for it, so that a pasted line never does anything else. */
function flag(name: string, value: string | undefined, word: string): string {
  if (value === undefined) return ''
  return ` ${name} ${PLAIN_WORD.test(value) ? value : word}`
}

function alternatives(ways: readonly string[]): string {
  if (ways.length < 2) return ways.join('')
  return `${ways.slice(0, -1).join(', ')}, or ${ways.slice(-1).join('')}`
}

function capitalised(sentence: string): string {
  return sentence.slice(0, 1).toUpperCase() + sentence.slice(1)
}
