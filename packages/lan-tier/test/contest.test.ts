import { describe, expect, it } from 'vitest'
import { Contest, type ContestStep, type LanHolder } from '../src/index.js'
import { SECOND_LOOK_SLOT_MS, secondLookWaitMs } from '../src/tie-break/second-look.js'
import { AT, holderAt, looked, silence } from './example.js'

const mine = { acquiredAtMs: AT, hostname: 'mill', claim: 'mill-claim' }
const winner = holderAt('barn', AT - 60_000)
const loser = holderAt('yard', AT + 60_000)
const contest = () => new Contest(mine, () => 0)

function lookAgain(step: ContestStep): LanHolder {
  if (step.kind !== 'look-again') throw new Error(`expected another look, not ${JSON.stringify(step)}`)
  return step.at
}

function outcomeOf(step: ContestStep) {
  if (step.kind !== 'done') throw new Error(`expected an outcome, not ${JSON.stringify(step)}`)
  return step.outcome
}

describe('after the first look', () => {
  it('keeps what nobody else holds', () => {
    expect(outcomeOf(contest().seen(looked([], 3)))).toEqual({ kind: 'keep', holders: [] })
    expect(outcomeOf(contest().seen(looked([])))).toEqual({ kind: 'keep', holders: [] })
  })

  it('keeps what others hold who lose, and names them', () => {
    expect(outcomeOf(contest().seen(looked([loser])))).toEqual({ kind: 'keep', holders: [loser] })
  })

  it('keeps, without knowing, when nobody answers', () => {
    expect(outcomeOf(contest().seen(silence()))).toMatchObject({ kind: 'unknown', because: 'no-answer' })
  })

  it('never yields at once', () => {
    expect(lookAgain(contest().seen(looked([winner, loser])))).toBe(winner)
  })
})

describe('after the second look', () => {
  it('yields to the winner that still holds', () => {
    const one = contest()
    lookAgain(one.seen(looked([winner])))
    expect(outcomeOf(one.seenAgain(looked([winner])))).toEqual({ kind: 'yield', to: winner })
  })

  it('keeps when the winner has gone', () => {
    const one = contest()
    lookAgain(one.seen(looked([winner, loser])))
    expect(outcomeOf(one.seenAgain(looked([], 1)))).toEqual({ kind: 'keep', holders: [loser] })
  })

  it('turns to the next winner when the first has gone', () => {
    const next = holderAt('coop', AT - 30_000)
    const one = contest()
    expect(lookAgain(one.seen(looked([winner, next])))).toBe(winner)
    expect(lookAgain(one.seenAgain(looked([], 1)))).toBe(next)
    expect(outcomeOf(one.seenAgain(looked([next])))).toEqual({ kind: 'yield', to: next })
  })

  it('decides anew on what the winner says now', () => {
    const one = contest()
    lookAgain(one.seen(looked([winner])))
    const restarted = { ...winner, acquiredAtMs: AT + 60_000, claim: 'another' }
    expect(outcomeOf(one.seenAgain(looked([restarted])))).toEqual({ kind: 'keep', holders: [restarted] })
  })

  it('asks a silent winner once more, then keeps without knowing', () => {
    const one = contest()
    lookAgain(one.seen(looked([winner])))
    expect(lookAgain(one.seenAgain(silence()))).toBe(winner)
    expect(outcomeOf(one.seenAgain(silence()))).toEqual({
      kind: 'unknown',
      because: 'unconfirmed',
      holders: []
    })
  })

  it('does not yield to one that is about to yield, and asks again whether it still is', () => {
    const wavering = { ...winner, yielding: true }
    const one = contest()
    // In the first look it counts: it may stay.
    lookAgain(one.seen(looked([wavering])))
    lookAgain(one.seenAgain(looked([wavering])))
    expect(outcomeOf(one.seenAgain(looked([winner])))).toEqual({ kind: 'yield', to: winner })

    const other = contest()
    lookAgain(other.seen(looked([winner])))
    lookAgain(other.seenAgain(looked([wavering])))
    expect(outcomeOf(other.seenAgain(looked([wavering])))).toMatchObject({ because: 'unconfirmed' })
  })

  it('gives up after a few winners that answer once and then hang', () => {
    const liars = Array.from({ length: 500 }, (_, at) =>
      holderAt(`liar${at}`, AT - 60_000, {
        peer: { instanceId: `${at}`, hostname: '', address: '10.0.0.9', port: 2_000 }
      })
    )
    const one = contest()
    let step = one.seen(looked(liars))
    let looks = 0
    for (; step.kind === 'look-again'; looks++) step = one.seenAgain(silence())
    expect(looks).toBeLessThanOrEqual(6)
    expect(outcomeOf(step)).toMatchObject({ kind: 'unknown', because: 'unconfirmed' })
  })

  it('cannot be told what was not asked', () => {
    expect(() => contest().seenAgain(looked([]))).toThrow(TypeError)
  })
})

describe('the wait before the second look', () => {
  it('lets the last in rank go first, one slot each', () => {
    const slots = [1, 2, 3, 4].map((rank) => secondLookWaitMs(rank, 5, 0) / SECOND_LOOK_SLOT_MS)
    expect(slots).toEqual([3, 2, 1, 0])
    expect(secondLookWaitMs(1, 2, 0.5)).toBe(SECOND_LOOK_SLOT_MS / 2)
  })

  it('is bounded, however many contend', () => {
    expect(secondLookWaitMs(1, 100_000, 0.999)).toBeLessThan(9 * SECOND_LOOK_SLOT_MS)
  })
})
