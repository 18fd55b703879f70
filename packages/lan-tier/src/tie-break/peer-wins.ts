/**
 * The tie-break between two computers that drive one agent, as every AgentMux build judges it: the earlier start wins,
 * unless the starts are too close to tell, and then the lower host name. Pure and total.
 */
import { compareNames } from './compare-names.js'
import { areSimultaneous, knownStart } from './start-times.js'

/**
 * Whether the peer keeps the agent and we yield. Both sides compute it from the same four values, so exactly one of them
 * wins where the host names differ; with equal names and simultaneous starts nobody does, and `decide` goes on. Among
 * three or more it can go in a circle: that is what `decide` is for. A start that is NaN counts as later than any.
 */
export function peerWins(peerAt: number, peerHost: string, mineAt: number, myHost: string): boolean {
  const theirs = knownStart(peerAt)
  const ours = knownStart(mineAt)
  if (areSimultaneous(theirs, ours)) return compareNames(peerHost, myHost) < 0
  return theirs < ours
}
