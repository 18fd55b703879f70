import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../src/index.js'
import { createManualClock } from '../src/testing.js'

const timersOfThisProcess = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

describe('sleep, by the real clock', () => {
  test('an abort rejects with its reason and leaves no timer and no listener', async () => {
    const before = timersOfThisProcess()
    const controller = new AbortController()
    const reason = new Error('enough')
    const sleeping = createSystemClock().sleep(3_600_000, controller.signal)
    expect(timersOfThisProcess()).toBe(before + 1)
    controller.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
    expect(timersOfThisProcess()).toBe(before)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('a signal that was aborted before rejects at once, without a timer', async () => {
    const before = timersOfThisProcess()
    const sleeping = createSystemClock().sleep(3_600_000, AbortSignal.abort('never mind'))
    expect(timersOfThisProcess()).toBe(before)
    await expect(sleeping).rejects.toBe('never mind')
  })

  test('a sleep that was slept leaves no listener; a later abort does nothing', async () => {
    const controller = new AbortController()
    await createSystemClock().sleep(1, controller.signal)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    controller.abort()
  })
})

describe('sleep, by the manual clock', () => {
  test('ends when its time has come, not a millisecond before', async () => {
    const clock = createManualClock()
    let awake = false
    void clock.sleep(100).then(() => {
      awake = true
    })
    await clock.advance(99)
    expect(awake).toBe(false)
    await clock.advance(1)
    expect(awake).toBe(true)
  })

  test('an abort leaves no timer', async () => {
    const clock = createManualClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(100, controller.signal)
    expect(clock.pendingTimers).toBe(1)
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    expect(clock.pendingTimers).toBe(0)
  })
})
