/** What a round of questions to the network brought: who holds an agent, how many answered, and who did not and why. */
import type { Holder } from '@agentmux/lease-model'
import type { Contender } from '../tie-break/contender.js'

/** Which peer is meant, without its key: this may be shown and logged (R16). */
export interface PeerName {
  readonly instanceId: string
  readonly hostname: string
  readonly address: string
  readonly port: number
}

/** Somebody on another computer who says that he drives the agent. Nothing of it is proven without a LAN secret. */
export interface LanHolder extends Holder, Contender {
  readonly place: 'lan'
  readonly peer: PeerName
  /** It is about to yield itself and must not be yielded to; older builds never say so. */
  readonly yielding: boolean
}

export const SILENT_BECAUSE = Object.freeze([
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
  'gone'
] as const)

/**
 * - `timed-out`: no answer, or no whole answer, in time
 * - `refused`: nothing listens there
 * - `unreachable`: the network does not lead there
 * - `broken`: the connection broke, or what came was not HTTP
 * - `too-large`: the answer was larger than one can be
 * - `unauthorized`: it does not take the key that it advertises
 * - `too-old`: it knows neither question
 * - `bad-answer`: another status, a redirect, or a body that is not what the protocol says
 * - `unsigned`: a LAN secret is set here and it did not sign
 * - `bad-signature`: it signed with another secret, or something else
 * - `bad-record`: what it advertises cannot be used: no address, no key
 * - `not-local`: the address it advertises is on no network of this computer
 * - `not-asked`: there are more peers than are asked at once
 * - `gone`: it is no peer any more
 */
export type SilentBecause = (typeof SILENT_BECAUSE)[number]

/** A peer without an answer that counts. That is no evidence, neither way (R8). */
export interface SilentPeer {
  readonly peer: PeerName
  readonly why: SilentBecause
}

export interface LanLook {
  /** Everybody else who says that he holds it; our own lease, reported back, is not in it. */
  readonly holders: readonly LanHolder[]
  /** How many peers gave an answer that counts. */
  readonly answered: number
  readonly silent: readonly SilentPeer[]
}
