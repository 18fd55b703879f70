import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, it } from 'vitest'
import {
  type Ask,
  FIRST_RECHECK_MS,
  type LanHolder,
  type LanLook,
  LanRecheck,
  type OwnLease,
  RECHECK_MS
} from '../src/index.js'
import { AT, holderAt, looked, silence } from './example.js'

const lease: OwnLease = { claimId: 'ours', acquiredAtMs: AT, hostname: 'mill' }
const winner = holderAt('barn', AT - 60_000)

function recheckOf({
  held = new Map([['u', lease]]),
  look = (): LanLook => looked([], 1),
  random = () => 0,
  onYield
}: {
  held?: Map<string, OwnLease>
  look?: (uid: string) => LanLook
  random?: () => number
  onYield?: (uid: string, holder: LanHolder) => void
} = {}) {
  const clock = createManualClock()
  const startMs = clock.bootMs()
  const asked: { atMs: number; uids: string[] }[] = []
  const yields: string[] = []
  const faults: unknown[] = []
  const ask: Ask = async (questions) => {
    asked.push({ atMs: clock.bootMs() - startMs, uids: questions.map(({ uid }) => uid) })
    return new Map(questions.map(({ uid }) => [uid, look(uid)]))
  }
  const recheck = new LanRecheck({
    held: () => held,
    ask,
    clock,
    random,
    onYield: (uid, holder) => {
      yields.push(`${uid} to ${holder.hostname}`)
      onYield?.(uid, holder)
    },
    onFault: (fault) => faults.push(fault)
  })
  return { clock, held, asked, yields, faults, recheck }
}

describe('when it looks', () => {
  it('two seconds after a start, then every thirty', async () => {
    const { clock, asked, recheck } = recheckOf()
    recheck.agentStarted()
    await clock.advance(100_000)
    expect(asked.map(({ atMs }) => atMs)).toEqual([2_000, 32_000, 62_000, 92_000])
    await recheck.close()
    expect(clock.pendingTimers).toBe(0)
  })

  it('never later than that, and not all instances at one moment', async () => {
    const firsts = new Set<number>()
    const gaps = new Set<number>()
    for (let instance = 0; instance < 100; instance++) {
      const { clock, asked, recheck } = recheckOf({ random: Math.random })
      recheck.agentStarted()
      await clock.advance(33_000)
      await recheck.close()
      const [first, second] = asked.map(({ atMs }) => atMs)
      firsts.add(Math.round((first ?? 0) / 10))
      gaps.add(Math.round(((second ?? 0) - (first ?? 0)) / 10))
      expect(first).toBeGreaterThanOrEqual(FIRST_RECHECK_MS)
      expect(first).toBeLessThanOrEqual(FIRST_RECHECK_MS + 500)
      expect((second ?? 0) - (first ?? 0)).toBeLessThanOrEqual(RECHECK_MS)
    }
    expect(firsts.size).toBeGreaterThan(20)
    expect(gaps.size).toBeGreaterThan(50)
  })

  it('at all agents together, however many were started', async () => {
    const held = new Map(Array.from({ length: 100 }, (_, at) => [`agent-${at}`, lease] as const))
    const { clock, asked, recheck } = recheckOf({ held })
    for (let at = 0; at < 100; at++) recheck.agentStarted()
    await clock.advance(2_500)
    expect(asked).toHaveLength(1)
    expect(asked[0]?.uids).toHaveLength(100)
    await recheck.close()
  })

  it('not while nothing is held, and again from the next start on', async () => {
    const { clock, held, asked, recheck } = recheckOf()
    recheck.agentStarted()
    await clock.advance(2_000)
    held.clear()
    await clock.advance(200_000)
    expect(asked).toHaveLength(1)
    expect(clock.pendingTimers).toBe(0)
    held.set('v', lease)
    recheck.agentStarted()
    await clock.advance(2_000)
    expect(asked.at(-1)?.uids).toEqual(['v'])
    await recheck.close()
  })

  it('sooner, once, after a winner that could not be confirmed', async () => {
    let looks = 0
    // Every look finds the winner at first, and then nobody.
    const { clock, asked, recheck } = recheckOf({
      look: () => (looks++ % 3 === 0 ? looked([winner]) : silence())
    })
    recheck.agentStarted()
    await clock.advance(50_000)
    const everybody = asked.filter((_, at) => at % 3 === 0).map(({ atMs }) => atMs)
    expect(everybody[0]).toBe(2_000)
    expect((everybody[1] ?? 0) - (everybody[0] ?? 0)).toBeLessThan(8_000)
    expect((everybody[2] ?? 0) - (everybody[1] ?? 0)).toBeGreaterThan(29_000)
    await recheck.close()
  })

  it('once after a suspension, however long', async () => {
    const { clock, asked, recheck } = recheckOf()
    recheck.agentStarted()
    await clock.advance(2_000)
    clock.suspend(3_600_000)
    await clock.advance(1_000)
    expect(asked).toHaveLength(2)
    await recheck.close()
  })
})

describe('what it does', () => {
  it('gives up an agent that another computer keeps, and no other', async () => {
    const held = new Map([
      ['u', lease],
      ['v', lease]
    ])
    const { clock, yields, recheck } = recheckOf({
      held,
      look: (uid) => (uid === 'u' ? looked([winner]) : looked([], 1)),
      onYield: (uid) => held.delete(uid)
    })
    recheck.agentStarted()
    await clock.advance(60_000)
    expect(yields).toEqual(['u to barn'])
    await recheck.close()
  })

  it('does not give up what was claimed anew meanwhile', async () => {
    const held = new Map([['u', lease]])
    let looks = 0
    const { clock, yields, recheck } = recheckOf({
      held,
      look: () => {
        if (++looks === 2) held.set('u', { ...lease, claimId: 'another', acquiredAtMs: AT - 120_000 })
        return looked([winner])
      }
    })
    recheck.agentStarted()
    await clock.advance(60_000)
    expect(yields).toEqual([])
    await recheck.close()
  })

  it('is about to yield while the last question is out, and not before or after', async () => {
    const seen: boolean[] = []
    let recheck: LanRecheck | undefined
    const made = recheckOf({
      look: () => {
        seen.push(recheck?.isYielding('u') ?? false)
        return looked([winner])
      },
      onYield: () => seen.push(recheck?.isYielding('u') ?? false)
    })
    recheck = made.recheck
    recheck.agentStarted()
    await made.clock.advance(5_000)
    expect(seen).toEqual([false, true, true])
    expect(recheck.isYielding('u')).toBe(false)
    await recheck.close()
  })

  it('tells what fails and goes on', async () => {
    const { clock, asked, faults, recheck } = recheckOf({
      look: () => {
        throw new Error('no network')
      }
    })
    recheck.agentStarted()
    await clock.advance(40_000)
    expect(asked).toHaveLength(2)
    expect(faults).toMatchObject([{ message: 'no network' }, { message: 'no network' }])
    await recheck.close()
    await clock.advance(100_000)
    expect(asked).toHaveLength(2)
  })

  it('a fence that throws is told, and the others are settled', async () => {
    const held = new Map([
      ['u', lease],
      ['v', lease]
    ])
    const { clock, faults, yields, recheck } = recheckOf({
      held,
      look: () => looked([winner]),
      onYield: (uid) => {
        if (uid === 'u') throw new Error('stuck')
      }
    })
    recheck.agentStarted()
    await clock.advance(5_000)
    expect(yields).toEqual(['u to barn', 'v to barn'])
    expect(faults).toHaveLength(1)
    await recheck.close()
  })

  it('closes in the middle of a look', async () => {
    const { clock, asked, recheck, yields, faults } = recheckOf({
      look: () => looked([winner]),
      random: () => 0.5
    })
    recheck.agentStarted()
    await clock.advance(2_300)
    expect(asked).toHaveLength(1)
    await recheck.close()
    expect(clock.pendingTimers).toBe(0)
    expect([...yields, ...faults]).toEqual([])
    recheck.agentStarted()
    expect(clock.pendingTimers).toBe(0)
  })

  it('an interval that is none is refused', () => {
    const options = { held: () => new Map(), ask: async () => new Map(), clock: createManualClock() }
    for (const everyMs of [0, -1, Number.NaN, 4_000_000]) {
      expect(() => new LanRecheck({ ...options, onYield: () => {}, everyMs })).toThrow(RangeError)
    }
  })
})
