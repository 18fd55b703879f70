/**
 * What `who` and `doctor` say when nobody on the network says that he drives the agent: how many were asked, how many
 * answered, and what may stand in the way. Silence is never called "free" (R8). No marker: perhaps nobody holds the agent.
 */
import type { AgentRef } from '@agentmux/lease-model'
import { agentInside } from './agent-label.js'
import { withOnlyMarker } from './only-marker.js'

export const LAN_SILENCES = Object.freeze([
  'timed-out',
  'refused',
  'unreachable',
  'broken',
  'too-large',
  'unauthorized',
  'too-old',
  'bad-answer',
  'unsigned',
  'bad-signature',
  'bad-record',
  'not-local',
  'not-asked',
  'gone',
  'no-multicast',
  'mixed'
] as const)

/**
 * Why the silent ones gave no answer that counts, in the words of the LAN tier; `no-multicast`: others cannot be found
 * at all; `mixed`: for several reasons.
 */
export type LanSilence = (typeof LAN_SILENCES)[number]

export interface LanAnswers {
  /** How many computers' instances gave an answer that counts; none of them drives the agent. */
  readonly answered: number
  /** How many did not. */
  readonly silent: number
  /** Why, where they have a reason in common, or why there is nobody to ask. */
  readonly because?: LanSilence | undefined
}

/** One or two sentences, the second of them a way out. */
export function lanAnswersMessage(agent: AgentRef, { answered, silent, because }: LanAnswers): string {
  const who = agentInside(agent)
  if (because === 'no-multicast' && answered + silent === 0) {
    return withOnlyMarker(`Whether ${who} runs on another computer could not be found out: ${NO_MULTICAST}`)
  }
  if (answered + silent === 0) {
    return withOnlyMarker(`No other AgentMux instance is seen on your network that could run ${who}.`)
  }
  if (silent === 0) {
    return withOnlyMarker(`${all(answered)} on your network answered, and ${who} does not run there.`)
  }
  const hint = hintFor(because ?? 'mixed')
  if (answered === 0) {
    return withOnlyMarker(
      `Whether ${who} runs on another computer could not be found out: of ${instances(silent)} on your network none gave an answer that counts. ${hint}`
    )
  }
  return withOnlyMarker(
    `${instances(answered)} on your network answered, and ${who} does not run there; ${silent} more gave no answer that counts, and it may run there. ${hint}`
  )
}

const NO_MULTICAST =
  'others cannot be found, since multicast does not work here. A container, a VPN, a firewall or a missing permission may stand in the way.'

function instances(count: number): string {
  return count === 1 ? '1 other instance' : `${count} other instances`
}

function all(count: number): string {
  return count === 1 ? 'The other instance' : `All ${count} other instances`
}

function hintFor(because: LanSilence): string {
  switch (because) {
    case 'unreachable':
      return 'The network does not lead there: a firewall, a VPN or a missing permission for the local network may stand in the way.'
    case 'timed-out':
    case 'broken':
      return 'They may be asleep, stopped, or behind a firewall that answers nothing.'
    case 'refused':
    case 'gone':
      return 'Nothing listens where they were seen; they may have ended just now.'
    case 'unauthorized':
      return 'They do not take the key that is advertised for them; they may have been started anew just now.'
    case 'too-old':
      return 'They are too old to be asked, or no AgentMux at all.'
    case 'unsigned':
      return 'A LAN secret is set here and they do not sign: they are older builds, have no secret, or are strangers. Set AGENTMUX_LAN_SECRET to the same text on every computer.'
    case 'bad-signature':
      return 'They sign with another secret. Set AGENTMUX_LAN_SECRET to the same text on every computer.'
    case 'bad-record':
    case 'not-local':
      return 'What is advertised for them cannot be used: it leads to no network of this computer, or a part is missing.'
    case 'not-asked':
      return 'There are more of them than are asked at once; most of those are hardly real.'
    case 'too-large':
    case 'bad-answer':
      return 'What they answer makes no sense; they may be no AgentMux at all.'
    case 'no-multicast':
      return 'Others cannot be found, since multicast does not work here.'
    case 'mixed':
      return '`doctor` says more about each of them.'
  }
}
