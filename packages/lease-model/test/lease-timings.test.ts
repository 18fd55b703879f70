import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_TTL_MS, leaseTimings, MAX_TTL_MS, MIN_TTL_MS } from '../src/index.js'

test('the usual TTL is 15 s: renewed every 5 s, SIGTERM at 11 s, SIGKILL at 13 s', () => {
  expect(DEFAULT_TTL_MS).toBe(15_000)
  expect(leaseTimings()).toEqual({
    ttlMs: 15_000,
    renewIntervalMs: 5_000,
    terminateAfterMs: 11_000,
    killAfterMs: 13_000
  })
})

test('other TTLs in proportion: two failed renewals are survived, and the child is gone before the TTL', () => {
  fc.assert(
    fc.property(fc.integer({ min: MIN_TTL_MS, max: MAX_TTL_MS }), (ttlMs) => {
      const timings = leaseTimings(ttlMs)
      expect(Object.values(timings).every(Number.isInteger)).toBe(true)
      expect(2 * timings.renewIntervalMs).toBeLessThan(timings.terminateAfterMs)
      expect(timings.terminateAfterMs).toBeLessThan(timings.killAfterMs)
      expect(timings.killAfterMs).toBeLessThan(ttlMs)
    })
  )
})

test.each([MIN_TTL_MS, MAX_TTL_MS])('the bounds themselves are allowed: %d', (ttlMs) => {
  expect(leaseTimings(ttlMs).ttlMs).toBe(ttlMs)
})

test.each([MIN_TTL_MS - 1, MAX_TTL_MS + 1, 0, -15_000, 1_000.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'a TTL of %d is a RangeError that names it and the bounds',
  (ttlMs) => {
    expect(() => leaseTimings(ttlMs)).toThrow(RangeError)
    expect(() => leaseTimings(ttlMs)).toThrow(`ttlMs must be a whole number from 500 to 600000, not ${ttlMs}`)
  }
)
