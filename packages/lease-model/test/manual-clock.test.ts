import { expect, test } from 'vitest'
import { createManualClock } from '../src/testing.js'

test('starts where it is told to', () => {
  const clock = createManualClock({ wallMs: 5, bootMs: 7 })
  expect([clock.wallMs(), clock.bootMs()]).toEqual([5, 7])
})

test('time moves only by advance, on both clocks', async () => {
  const clock = createManualClock({ wallMs: 1_000, bootMs: 10 })
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect([clock.wallMs(), clock.bootMs()]).toEqual([1_000, 10])
  await clock.advance(250)
  expect([clock.wallMs(), clock.bootMs()]).toEqual([1_250, 260])
})

test('timers fire in the order of their times, each seeing its own time', async () => {
  const clock = createManualClock({ bootMs: 0 })
  const fired: string[] = []
  clock.after(30, () => fired.push(`b at ${clock.bootMs()}`))
  clock.after(10, () => fired.push(`a at ${clock.bootMs()}`))
  clock.after(30, () => fired.push(`c at ${clock.bootMs()}`))
  await clock.advance(100)
  expect(fired).toEqual(['a at 10', 'b at 30', 'c at 30'])
  expect(clock.bootMs()).toBe(100)
})

test('a timer that sets the next one is followed through one advance', async () => {
  const clock = createManualClock({ bootMs: 0 })
  const ticks: number[] = []
  const tick = () => {
    ticks.push(clock.bootMs())
    if (ticks.length < 4) clock.after(5, tick)
  }
  clock.after(5, tick)
  await clock.advance(18)
  expect(ticks).toEqual([5, 10, 15])
  expect(clock.pendingTimers).toBe(1)
})

test('promises settled by a timer run before the next timer', async () => {
  const clock = createManualClock()
  const order: string[] = []
  void clock.sleep(10).then(async () => {
    await Promise.resolve()
    order.push('what the first started')
  })
  clock.after(20, () => order.push('the second'))
  await clock.advance(20)
  expect(order).toEqual(['what the first started', 'the second'])
})

test('a step of the wall clock fires nothing and leaves boot time alone', async () => {
  const clock = createManualClock({ wallMs: 1_000, bootMs: 10 })
  let fired = 0
  clock.after(100, () => fired++)
  clock.stepWall(1_000_000)
  clock.stepWall(-2_000_000)
  await clock.advance(99)
  expect([clock.wallMs(), clock.bootMs(), fired]).toEqual([-998_901, 109, 0])
  await clock.advance(1)
  expect(fired).toBe(1)
})

test('a suspension passes time without firing; what is overdue fires once, at the time of waking', async () => {
  const clock = createManualClock({ bootMs: 0 })
  const firedAt: number[] = []
  clock.after(10, () => firedAt.push(clock.bootMs()))
  clock.suspend(60_000)
  expect([clock.bootMs(), firedAt]).toEqual([60_000, []])
  await clock.advance(0)
  expect(firedAt).toEqual([60_000])
  expect(clock.pendingTimers).toBe(0)
})

test('a cancelled timer never fires', async () => {
  const clock = createManualClock()
  const cancel = clock.after(10, () => expect.fail('fired'))
  cancel()
  cancel()
  await clock.advance(20)
  expect(clock.pendingTimers).toBe(0)
})
