import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../bench/measuring/seeded-random.mjs'
import { type Contender, decide, peerWins } from '../src/index.js'
import { rankOf } from '../src/tie-break/decide.js'

const AT = 1_700_000_000_000
const oddTimes = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  2 ** 63,
  -1,
  0
]

/** Around the border of 10 s, mostly; now and then whatever a hostile peer may say. */
const anyStart = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: -25_000, max: 25_000 }).map((by) => AT + by) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.constantFrom(...oddTimes) }
)
const anyName = fc.oneof(
  fc.constantFrom('', 'a', 'b', 'c', 'mill', 'barn'),
  fc.string({ unit: 'binary', maxLength: 5 })
)
const anyContender: fc.Arbitrary<Contender> = fc.record({
  acquiredAtMs: anyStart,
  hostname: anyName,
  claim: fc.constantFrom('', '00', '01', 'ff')
})

/** A start that is not a number counts as the latest there can be, so it and infinity are one start. */
const startOf = ({ acquiredAtMs }: Contender) =>
  Number.isNaN(acquiredAtMs) ? Number.POSITIVE_INFINITY : acquiredAtMs

function sameContender(one: Contender, other: Contender): boolean {
  return startOf(one) === startOf(other) && one.hostname === other.hostname && one.claim === other.claim
}

/** Throws, with the set, where the decision breaks a promise. */
function checkDecision(set: readonly Contender[], shuffled: readonly Contender[]): void {
  const winner = decide(set)
  const otherwise = decide(shuffled)
  const keeping = set.filter((each) => sameContender(otherwise, each))
  if (keeping.length === 0 || !keeping.every((each) => sameContender(each, winner))) {
    throw new Error(`not one winner in every order: ${JSON.stringify(set)}`)
  }
  const [a, b] = set
  if (set.length === 2 && a !== undefined && b !== undefined && a.hostname !== b.hostname) {
    const bWins = peerWins(b.acquiredAtMs, b.hostname, a.acquiredAtMs, a.hostname)
    const aWins = peerWins(a.acquiredAtMs, a.hostname, b.acquiredAtMs, b.hostname)
    if (bWins === aWins || (winner === b) !== bWins) {
      throw new Error(`for two it is not peerWins: ${JSON.stringify(set)}`)
    }
  }
}

describe('the decision over any set of contenders', () => {
  it('names one, whatever the order, and for two it is peerWins', () => {
    fc.assert(
      fc.property(
        fc
          .array(anyContender, { minLength: 1, maxLength: 8 })
          .chain((set) => fc.tuple(fc.constant(set), fc.shuffledSubarray(set, { minLength: set.length }))),
        ([set, shuffled]) => checkDecision(set, shuffled)
      ),
      { numRuns: 20_000 }
    )
  })

  it('holds in a million cases around the border', () => {
    const names = ['', 'a', 'b', 'c', 'd']
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = seededRandom(seed)
        const upTo = (count: number) => Math.floor(random() * count)
        for (let at = 0; at < 1_000; at++) {
          const set = Array.from({ length: 1 + upTo(6) }, () => ({
            acquiredAtMs:
              upTo(50) === 0 ? (oddTimes[upTo(oddTimes.length)] ?? 0) : AT + upTo(6) * 5_000 + upTo(3) - 1,
            hostname: names[upTo(names.length)] ?? '',
            claim: upTo(3).toString()
          }))
          const rotated = upTo(set.length)
          checkDecision(set, [...set.slice(rotated), ...set.slice(0, rotated)].reverse())
        }
      }),
      { numRuns: 1_000 }
    )
  })

  it('takes a start that is not a number and one at infinity for the same', () => {
    const late = { acquiredAtMs: Number.POSITIVE_INFINITY, hostname: 'a', claim: '0' }
    const unknown = { ...late, acquiredAtMs: Number.NaN }
    checkDecision([late, unknown], [unknown, late])
    checkDecision([late, unknown, { ...late, hostname: 'b' }], [{ ...late, hostname: 'b' }, unknown, late])
  })

  it('gives ranks that are the order in which they would win', () => {
    fc.assert(
      fc.property(fc.array(anyContender, { minLength: 1, maxLength: 8 }), (set) => {
        const ranks = set.map((each) => rankOf(each, set, set.length))
        expect(ranks.every((rank) => rank >= 0 && rank < set.length)).toBe(true)
        const winner = decide(set)
        for (const [at, each] of set.entries()) {
          if (ranks[at] === 0) expect(sameContender(each, winner)).toBe(true)
        }
      }),
      { numRuns: 5_000 }
    )
  })
})
