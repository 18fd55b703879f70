import { uptime } from 'node:os'
import { expect, test, vi } from 'vitest'
import { createSystemClock } from '../src/index.js'

test('boot time never goes back, read as fast as possible', () => {
  const clock = createSystemClock()
  let previous = clock.bootMs()
  for (let reading = 0; reading < 100_000; reading++) {
    const next = clock.bootMs()
    if (next < previous) expect.fail(`went from ${previous} to ${next}`)
    previous = next
  }
})

test('boot time is the uptime of the system, so that processes can compare theirs', () => {
  const difference = createSystemClock().bootMs() - uptime() * 1_000
  expect(Math.abs(difference)).toBeLessThan(20)
})

test('a step of the wall clock moves wall time and leaves boot time alone', () => {
  const clock = createSystemClock()
  const realNow = Date.now
  const bootBefore = clock.bootMs()
  for (const stepMs of [3_600_000, -3_600_000, 10 * 365 * 86_400_000]) {
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + stepMs)
    expect(Math.abs(clock.wallMs() - (realNow() + stepMs))).toBeLessThan(1_000)
    const passed = clock.bootMs() - bootBefore
    expect(passed).toBeGreaterThanOrEqual(0)
    expect(passed).toBeLessThan(10_000)
  }
  vi.restoreAllMocks()
})

test('a timer fires once, not before its time by the same clock', async () => {
  const clock = createSystemClock()
  const start = performance.now()
  let fired = 0
  await new Promise<void>((resolve) => {
    clock.after(20, () => {
      fired++
      resolve()
    })
  })
  expect(performance.now() - start).toBeGreaterThanOrEqual(19)
  await clock.sleep(40)
  expect(fired).toBe(1)
})

test('a cancelled timer does not fire, and may be cancelled again', async () => {
  const clock = createSystemClock()
  const cancel = clock.after(5, () => expect.fail('fired'))
  cancel()
  cancel()
  await clock.sleep(20)
})

test('a negative delay fires at once; one too long for setTimeout does not', async () => {
  const clock = createSystemClock()
  await new Promise<void>((resolve) => {
    clock.after(-1_000, resolve)
  })
  const cancel = clock.after(2 ** 40, () => expect.fail('fired at once'))
  await clock.sleep(20)
  cancel()
})
