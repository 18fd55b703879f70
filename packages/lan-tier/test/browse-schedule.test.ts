/** When to ask again. */
import { expect, test } from 'vitest'
import { isDueForRefresh, nextBrowseMs } from '../src/discovery/browse-schedule.js'
import { DISCOVERY_TIMINGS as timings } from '../src/discovery/discovery-timings.js'

const deadline = (lastSeenMs: number, expiresMs: number) => ({
  key: '',
  lastSeenMs,
  expiresMs,
  byProbe: false
})

test('more and more rarely, up to the cap', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 5_000].map((round) =>
    nextBrowseMs({ round, nowMs: 0, deadlines: [], timings })
  )
  const doubling = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000]
  expect(delays).toEqual([...doubling, 300_000, 300_000, 300_000])
})

test('in time for a peer that would expire: at half of its time, then at 80, 90 and 95 %', () => {
  const at = (nowMs: number) =>
    nowMs + nextBrowseMs({ round: 99, nowMs, deadlines: [deadline(0, 300_000)], timings })
  expect(at(0)).toBe(150_000)
  expect(at(150_000)).toBe(240_000)
  expect(at(240_000)).toBe(270_000)
  expect(at(270_000)).toBe(285_000)
})

test('never more often than the floor, however many are about to expire', () => {
  const deadlines = Array.from({ length: 1_000 }, (_, i) => deadline(i, 300_000 + i * 7))
  for (let nowMs = 0; nowMs < 600_000; nowMs += 999) {
    expect(nextBrowseMs({ round: 99, nowMs, deadlines, timings })).toBeGreaterThanOrEqual(
      timings.browseFloorMs
    )
  }
})

test('a peer seen more than half of its time ago is to show itself', () => {
  expect(isDueForRefresh(deadline(0, 100), 49)).toBe(false)
  expect(isDueForRefresh(deadline(0, 100), 50)).toBe(true)
})
