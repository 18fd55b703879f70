/**
 * Who of any number of contenders keeps the agent. Depends on the set alone, never on its order or on who asks, so that
 * all who see the same set name the same one; for two on hosts of different names it is `peerWins`.
 */
import { compareNames } from './compare-names.js'
import type { Contender } from './contender.js'
import { areSimultaneous, knownStart } from './start-times.js'

/**
 * The earliest start counts; among those too close to it to tell, the lowest host name, then the lowest hash of the claim
 * id, then the start itself. Contenders that are alike in all of these are one and the same.
 *
 * @throws RangeError if there is none.
 */
export function decide<T extends Contender>(contenders: readonly T[]): T {
  let earliestMs = Number.POSITIVE_INFINITY
  for (const { acquiredAtMs } of contenders) earliestMs = Math.min(earliestMs, knownStart(acquiredAtMs))
  let winner: T | undefined
  for (const contender of contenders) {
    if (!areSimultaneous(knownStart(contender.acquiredAtMs), earliestMs)) continue
    if (winner === undefined || compareSimultaneous(contender, winner) < 0) winner = contender
  }
  if (winner === undefined) throw new RangeError('nobody contends: there is nothing to decide')
  return winner
}

/**
 * How many would have to go before `mine` is the one that keeps: 0 for the winner itself. Counts to `limit` and no
 * further, since others can make themselves any number of contenders.
 */
export function rankOf<T extends Contender>(mine: T, contenders: readonly T[], limit: number): number {
  let left = contenders.filter((each) => each !== mine)
  for (let rank = 0; rank < limit; rank++) {
    const winner = decide([...left, mine])
    if (winner === mine) return rank
    left = left.filter((each) => each !== winner)
  }
  return limit
}

function compareSimultaneous(one: Contender, other: Contender): number {
  const byName = compareNames(one.hostname, other.hostname) || compareNames(one.claim, other.claim)
  if (byName !== 0) return byName
  const oneMs = knownStart(one.acquiredAtMs)
  const otherMs = knownStart(other.acquiredAtMs)
  if (oneMs === otherMs) return 0
  return oneMs < otherMs ? -1 : 1
}
