import { describe, expect, it } from 'vitest'
import { Deadline, stallOf, WallSteps } from '../src/deadline.js'

const timings = { ttlMs: 15_000, terminateAfterMs: 11_000, killAfterMs: 13_000, tickMs: 250 }
/** The start of the last good renewal. */
const R = 1_000_000

describe('the deadline of a lease', () => {
  it('terminates 11 s after the start of the last good renewal and kills 2 s later', () => {
    const deadline = new Deadline(timings)
    expect(deadline.dueMs(R)).toBe(R + 11_000)
    expect(deadline.action(R, R + 10_999)).toBe('wait')
    expect(deadline.action(R, R + 11_000)).toBe('terminate')
    deadline.fence(R, R + 11_000)
    expect(deadline.dueMs(R)).toBe(R + 13_000)
    expect(deadline.action(R, R + 12_999)).toBe('wait')
    expect(deadline.action(R, R + 13_000)).toBe('kill')
  })

  it('moves on with every renewal', () => {
    const deadline = new Deadline(timings)
    expect(deadline.action(R + 5_000, R + 11_000)).toBe('wait')
    expect(deadline.action(R + 5_000, R + 16_000)).toBe('terminate')
  })

  it('kills at once what should have been killed by now', () => {
    const deadline = new Deadline(timings)
    deadline.fence(R, R + 60_000)
    expect(deadline.action(R, R + 60_000)).toBe('kill')
  })

  it('gives time for a look after a suspension before anything is ended', () => {
    const deadline = new Deadline(timings)
    const woken = R + 3_600_000
    deadline.allowLook(R, woken, 3_600_000)
    expect(deadline.action(R, woken + 1_999)).toBe('wait')
    expect(deadline.action(R, woken + 2_000)).toBe('terminate')
  })

  it('counts from the renewal alone when that came in time', () => {
    const deadline = new Deadline(timings)
    const woken = R + 3_600_000
    deadline.allowLook(R, woken, 3_600_000)
    expect(deadline.action(woken + 100, woken + 11_099)).toBe('wait')
    expect(deadline.action(woken + 100, woken + 11_100)).toBe('terminate')
  })

  it('gives a starved process that time once per renewal, not for ever', () => {
    const deadline = new Deadline(timings)
    deadline.allowLook(R, R + 10_900, 1_500)
    deadline.allowLook(R, R + 12_500, 1_500)
    expect(deadline.action(R, R + 12_900)).toBe('terminate')
    deadline.allowLook(R + 12_000, R + 23_500, 1_500)
    expect(deadline.action(R + 12_000, R + 24_000)).toBe('wait')
  })

  it('gives it again after a second suspension: nothing is starved for a whole TTL', () => {
    const deadline = new Deadline(timings)
    deadline.allowLook(R, R + 60_000, 60_000)
    deadline.allowLook(R, R + 120_000, 59_900)
    expect(deadline.action(R, R + 121_000)).toBe('wait')
  })

  it('never puts off a SIGKILL once SIGTERM was sent', () => {
    const deadline = new Deadline(timings)
    deadline.fence(R, R + 11_000)
    deadline.allowLook(R, R + 60_000, 49_000)
    expect(deadline.action(R, R + 60_000)).toBe('kill')
  })
})

describe('a stall', () => {
  it('is more than a busy machine explains', () => {
    expect(stallOf(R, R + 1_000, 250)).toBe(0)
    expect(stallOf(R, R + 1_001, 250)).toBe(1_001)
  })

  it('is none if the timer came early', () => {
    expect(stallOf(R, R - 1, 250)).toBe(0)
  })
})

describe('a step of the wall clock', () => {
  const wall = 1_700_000_000_000

  it('is noticed in both directions, each once', () => {
    const steps = new WallSteps(wall, R)
    expect(steps.stepped(wall + 250, R + 250)).toBe(false)
    expect(steps.stepped(wall + 500 + 180_000, R + 500)).toBe(true)
    expect(steps.stepped(wall + 750 + 180_000, R + 750)).toBe(false)
    expect(steps.stepped(wall + 1_000, R + 1_000)).toBe(true)
  })

  it('is not a suspension: both clocks go on in it', () => {
    const steps = new WallSteps(wall, R)
    expect(steps.stepped(wall + 3_600_000, R + 3_600_000)).toBe(false)
  })

  it('is not a slow correction, however far it goes', () => {
    const steps = new WallSteps(wall, R)
    for (let tick = 1; tick <= 1_000; tick++) {
      expect(steps.stepped(wall + tick * 260, R + tick * 250)).toBe(false)
    }
  })
})
