import { leaseTimings } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { beforeEach, describe, expect, it } from 'vitest'
import { Renewals } from '../src/renewals.js'

const clock = createManualClock()
const timings = leaseTimings(15_000)
let startedMs: number
let began: number[]
let faults: unknown[]
let work: () => Promise<void>
let renewals: Renewals

beforeEach(() => {
  startedMs = clock.bootMs()
  began = []
  faults = []
  work = async () => {}
  renewals = new Renewals({
    clock,
    timings,
    renew: () => {
      began.push(clock.bootMs() - startedMs)
      return work()
    },
    onFault: (fault) => faults.push(fault)
  })
  return () => renewals.stop()
})

function failing(): Promise<void> {
  return Promise.reject(new Error('disk'))
}

/** Work that ends when told to. */
function pending() {
  let end = () => {}
  const done = new Promise<void>((resolve) => {
    end = resolve
  })
  return { done, end }
}

describe('renewals', () => {
  it('come at the interval, from the phase they were given', async () => {
    renewals.begin(1_200)
    await clock.advance(16_300)
    expect(began).toEqual([1_200, 6_200, 11_200, 16_200])
  })

  it('come once when the timer is late, and then in rhythm again', async () => {
    renewals.begin(1_000)
    clock.suspend(60_500)
    await clock.advance(0)
    expect(began).toEqual([60_500])
    await clock.advance(10_000)
    expect(began).toEqual([60_500, 61_000, 66_000])
  })

  it('are tried again within a second after a fault, until one succeeds', async () => {
    work = failing
    renewals.begin(1_000)
    await clock.advance(3_500)
    expect(began).toEqual([1_000, 2_000, 3_000])
    expect(faults).toHaveLength(3)
    work = async () => {}
    await clock.advance(8_000)
    expect(began).toEqual([1_000, 2_000, 3_000, 4_000, 6_000, 11_000])
  })

  it('are one at a time: one asked for meanwhile begins after the one under way', async () => {
    const slow = pending()
    work = () => slow.done
    renewals.begin(100)
    await clock.advance(100)
    renewals.soon(0)
    renewals.soon(0)
    await clock.advance(1_000)
    expect(began).toEqual([100])
    work = async () => {}
    slow.end()
    await clock.advance(0)
    await clock.advance(0)
    expect(began).toEqual([100, 1_100])
  })

  it('keep their rhythm when extra ones come in between', async () => {
    renewals.begin(1_000)
    renewals.soon(10)
    await clock.advance(6_500)
    expect(began).toEqual([10, 1_000, 6_000])
  })

  it('do not come later because one is asked for later than the next', async () => {
    renewals.begin(100)
    renewals.soon(4_000)
    await clock.advance(200)
    expect(began).toEqual([100])
  })

  it('do not begin after a stop, not even those asked for', async () => {
    const slow = pending()
    work = () => slow.done
    renewals.begin(100)
    await clock.advance(100)
    renewals.soon(0)
    renewals.stop()
    renewals.soon(0)
    let idle = false
    const ending = renewals.idle().then(() => {
      idle = true
    })
    await clock.advance(1_000)
    expect(idle).toBe(false)
    slow.end()
    await ending
    await renewals.now()
    await clock.advance(60_000)
    expect(began).toEqual([100])
    expect(clock.pendingTimers).toBe(0)
  })

  it('can be had now: after the one under way, and with its fault thrown', async () => {
    const slow = pending()
    work = () => slow.done
    renewals.begin(100)
    await clock.advance(100)
    const now = renewals.now()
    await clock.advance(400)
    work = failing
    slow.end()
    await expect(now).rejects.toThrow('disk')
    expect(began).toEqual([100, 500])
    expect(faults).toEqual([])
  })

  it('leave one timer behind each, ten thousand of them', async () => {
    renewals.begin(0)
    for (let round = 0; round < 10_000; round++) {
      await clock.advance(timings.renewIntervalMs)
      if (clock.pendingTimers !== 1) expect(clock.pendingTimers).toBe(1)
    }
    expect(began).toHaveLength(10_001)
  })
})
