import { describe, expect, it } from 'vitest'
import { durationText, heldForText, remainingText } from '../src/index.js'
import { NOW_MS } from './example.js'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

describe('a duration', () => {
  it.each([
    [0, 'less than 1 s'],
    [999, 'less than 1 s'],
    [SECOND, '1 s'],
    [119 * SECOND + 999, '119 s'],
    [2 * MINUTE, '2 min'],
    [2 * HOUR - 1, '119 min'],
    [2 * HOUR, '2 h'],
    [2 * DAY - 1, '47 h'],
    [2 * DAY, '2 d'],
    [-5, 'less than 1 s'],
    [Number.NaN, 'less than 1 s']
  ])('of %d ms is %s', (ms, text) => expect(durationText(ms)).toBe(text))

  it.each([
    [14_001, '15 s'],
    [15_000, '15 s'],
    [1, '1 s'],
    [0, 'less than 1 s'],
    [Number.NaN, 'less than 1 s']
  ])('of %d ms still to come is %s', (ms, text) => expect(remainingText(ms)).toBe(text))

  it('stays a number for endless ones', () => {
    expect(durationText(Number.POSITIVE_INFINITY)).toMatch(/^\d+ d$/)
    expect(remainingText(Number.POSITIVE_INFINITY)).toMatch(/^\d+ d$/)
  })
})

describe('how long a holder has held', () => {
  it.each([
    ['three minutes', NOW_MS - 3 * MINUTE, 'for 3 min'],
    ['a moment', NOW_MS - 999, 'just started'],
    ['a start ahead of us by less than clocks differ', NOW_MS + 9_999, 'just started'],
    ['a start ahead of us by more', NOW_MS + HOUR, 'since 2026-01-02 15:05 UTC by its own clock'],
    ['an unknown start', 0, undefined],
    ['a negative start', -1, undefined],
    ['a start near 1970, from a clock never set', 5_000, undefined],
    ['a start beyond all dates', Number.MAX_VALUE, undefined],
    ['no number', Number.NaN, undefined]
  ])('from %s', (_what, acquiredAtMs, text) => expect(heldForText(acquiredAtMs, NOW_MS)).toBe(text))

  it('is unknown when our own clock is', () => expect(heldForText(NOW_MS, Number.NaN)).toBeUndefined())

  it('is unknown, not a fault, when both clocks are beyond all dates', () => {
    expect(heldForText(9e15 + HOUR, 9e15)).toBeUndefined()
  })
})
