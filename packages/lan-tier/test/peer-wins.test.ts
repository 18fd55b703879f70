import { describe, expect, it } from 'vitest'
import { decide, peerWins, SIMULTANEOUS_WITHIN_MS } from '../src/index.js'
import { compareNames } from '../src/tie-break/compare-names.js'

const AT = 1_700_000_000_000

/** The two sides of one tie-break: does the other win, seen from each. */
function bothSides(aAt: number, aHost: string, bAt: number, bHost: string): [boolean, boolean] {
  return [peerWins(bAt, bHost, aAt, aHost), peerWins(aAt, aHost, bAt, bHost)]
}

describe('the tie-break between two', () => {
  it.each([
    ['the earlier start wins', AT, 'mill', AT + 10_000, 'barn', [false, true]],
    ['starts less than 10 s apart: the lower name wins', AT, 'mill', AT + 9_999, 'barn', [true, false]],
    ['the same start: the lower name wins', AT, 'a', AT, 'b', [false, true]],
    ['equal names, 10 s apart: the earlier start wins', AT, 'a', AT + 10_000, 'a', [false, true]],
    ['equal names, closer: neither yields', AT, 'a', AT + 9_999, 'a', [false, false]],
    ['an unknown name is the lowest', AT, '', AT + 5, 'a', [false, true]],
    ['a prefix is lower', AT, 'host1', AT, 'host10', [false, true]],
    ['digits are characters', AT, 'host10', AT, 'host9', [false, true]]
  ] as const)('%s', (_, aAt, aHost, bAt, bHost, expected) => {
    expect(bothSides(aAt, aHost, bAt, bHost)).toEqual(expected)
    expect(bothSides(bAt, bHost, aAt, aHost)).toEqual([expected[1], expected[0]])
  })

  it('one of the two yields, whatever a peer says its start was', () => {
    const odd = [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.MAX_VALUE,
      -Number.MAX_VALUE,
      Number.MAX_SAFE_INTEGER,
      -1,
      0,
      -0,
      AT
    ]
    for (const one of odd) {
      for (const other of odd) {
        const [aYields, bYields] = bothSides(one, 'a', other, 'b')
        expect(aYields, `${one} and ${other}`).not.toBe(bYields)
      }
    }
  })

  it('what is no time never wins against a time', () => {
    expect(peerWins(Number.NaN, 'a', AT, 'b')).toBe(false)
    expect(peerWins(AT, 'b', Number.NaN, 'a')).toBe(true)
  })

  it('goes in a circle among three, in which deciding over all names one', () => {
    const [a, b, c] = [
      { acquiredAtMs: AT, hostname: 'c', claim: '' },
      { acquiredAtMs: AT + 6_000, hostname: 'b', claim: '' },
      { acquiredAtMs: AT + 12_000, hostname: 'a', claim: '' }
    ] as const
    expect(peerWins(b.acquiredAtMs, b.hostname, a.acquiredAtMs, a.hostname)).toBe(true)
    expect(peerWins(c.acquiredAtMs, c.hostname, b.acquiredAtMs, b.hostname)).toBe(true)
    expect(peerWins(a.acquiredAtMs, a.hostname, c.acquiredAtMs, c.hostname)).toBe(true)
    expect(decide([a, b, c])).toBe(b)
    expect(decide([c, b, a])).toBe(b)
  })
})

describe('names', () => {
  it('are ordered as their UTF-8 bytes, as older builds do', () => {
    const names = ['', 'a', 'b', 'ä', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}', 'a\u{1f600}']
    for (const one of names) {
      for (const other of names) {
        const bytes = Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)))
        expect(Math.sign(compareNames(one, other)), `${one} and ${other}`).toBe(bytes)
      }
    }
  })
})

describe('deciding over any number', () => {
  it('takes the lower hash of the claim where start and name do not tell', () => {
    const one = { acquiredAtMs: AT, hostname: 'mill', claim: '0a' }
    const other = { acquiredAtMs: AT - 9_000, hostname: 'mill', claim: '0b' }
    expect(decide([one, other])).toBe(one)
    expect(decide([other, one])).toBe(one)
  })

  it('has nothing to decide without a contender', () => {
    expect(() => decide([])).toThrow(RangeError)
  })

  it('calls 10 s the border', () => {
    expect(SIMULTANEOUS_WITHIN_MS).toBe(10_000)
  })
})
