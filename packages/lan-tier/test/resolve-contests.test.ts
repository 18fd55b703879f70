import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, it } from 'vitest'
import {
  type Ask,
  type Contender,
  type ContestOutcome,
  type LanLook,
  type Question,
  resolveContest,
  resolveContests
} from '../src/index.js'
import { AT, holderAt, looked, silence } from './example.js'

const mine: Contender = { acquiredAtMs: AT, hostname: 'mill', claim: 'mill-claim' }
const winner = holderAt('barn', AT - 60_000)

/** Answers each agent from a list of looks, the last of them again and again; remembers what was asked. */
function answering(looks: Readonly<Record<string, readonly LanLook[]>>): { ask: Ask; rounds: Question[][] } {
  const rounds: Question[][] = []
  const given = new Map<string, number>()
  return {
    rounds,
    ask: async (questions, signal) => {
      signal.throwIfAborted()
      rounds.push([...questions])
      return new Map(
        questions.map(({ uid }) => {
          const of = looks[uid] ?? []
          const at = given.get(uid) ?? 0
          given.set(uid, at + 1)
          return [uid, of[Math.min(at, of.length - 1)] ?? looked([])] as const
        })
      )
    }
  }
}

describe('one contest', () => {
  const resolve = async (looks: readonly LanLook[]) => {
    const clock = createManualClock()
    const { ask, rounds } = answering({ u: looks })
    const signal = new AbortController().signal
    const resolving = resolveContest({ uid: 'u', mine, ask, clock, signal, random: () => 0.5 })
    for (let waited = 0; waited < 20; waited++) await clock.advance(500)
    return { outcome: await resolving, rounds, clock }
  }

  it('asks the winner again, and yields', async () => {
    const { outcome, rounds, clock } = await resolve([looked([winner], 2), looked([winner])])
    expect(outcome).toEqual({ kind: 'yield', to: winner })
    expect(rounds).toEqual([[{ uid: 'u' }], [{ uid: 'u', peers: [winner.peer] }]])
    expect(clock.pendingTimers).toBe(0)
  })

  it('asks those who were late once more, and counts what they say then', async () => {
    const late = silence('barn', 'timed-out')
    const { outcome, rounds } = await resolve([late, looked([winner]), looked([winner])])
    expect(outcome).toEqual({ kind: 'yield', to: winner })
    expect(rounds[1]).toEqual([{ uid: 'u', peers: [winner.peer] }])
    expect(rounds).toHaveLength(3)
  })

  it('does not ask again who cannot be expected to answer', async () => {
    const { outcome, rounds } = await resolve([silence('barn', 'refused')])
    expect(outcome).toMatchObject({ kind: 'unknown', because: 'no-answer' })
    expect(rounds).toHaveLength(1)
  })

  it('ends with the signal, wherever it is, and leaves no timer', async () => {
    const clock = createManualClock()
    const giveUp = new AbortController()
    const { ask } = answering({ u: [looked([winner])] })
    const resolving = resolveContest({ uid: 'u', mine, ask, clock, signal: giveUp.signal })
    const rejected = expect(resolving).rejects.toThrow('enough')
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(1)
    giveUp.abort(new Error('enough'))
    await rejected
    expect(clock.pendingTimers).toBe(0)
    const { signal } = giveUp
    await expect(resolveContest({ uid: 'u', mine, ask, clock, signal })).rejects.toThrow('enough')
  })
})

describe('many contests', () => {
  it('a hundred agents take one question to everybody and one to the winner', async () => {
    const clock = createManualClock()
    const uids = Array.from({ length: 100 }, (_, at) => `agent-${at}`)
    const { ask, rounds } = answering(Object.fromEntries(uids.map((uid) => [uid, [looked([winner])]])))
    const outcomes = new Map<string, ContestOutcome>()
    const resolving = resolveContests({
      mine: new Map(uids.map((uid) => [uid, mine])),
      ask,
      clock,
      signal: new AbortController().signal,
      settle: (uid, outcome) => outcomes.set(uid, outcome)
    })
    await clock.advance(5_000)
    await resolving
    expect(rounds.map(({ length }) => length)).toEqual([100, 100])
    expect([...outcomes.values()].every(({ kind }) => kind === 'yield')).toBe(true)
    expect(outcomes.size).toBe(100)
  })

  it('says that an agent is about to yield from before the question until it has been settled', async () => {
    const clock = createManualClock()
    const yielding = new Set<string>()
    const seen: string[] = []
    const base = answering({ u: [looked([winner])], v: [looked([], 1)] })
    const ask: Ask = (questions, signal) => {
      seen.push(`ask ${questions.map(({ uid }) => uid)}: ${[...yielding]}`)
      return base.ask(questions, signal)
    }
    const resolving = resolveContests({
      mine: new Map([
        ['u', mine],
        ['v', mine]
      ]),
      ask,
      clock,
      signal: new AbortController().signal,
      onAsking: (uids, asking) => {
        for (const uid of uids) {
          if (asking) yielding.add(uid)
          else yielding.delete(uid)
        }
      },
      settle: (uid, { kind }) => seen.push(`${kind} ${uid}: ${[...yielding]}`)
    })
    await clock.advance(5_000)
    await resolving
    expect(seen).toEqual(['ask u,v: ', 'keep v: ', 'ask u: u', 'yield u: u'])
    expect(yielding.size).toBe(0)
  })

  it('two that would each yield to the other do not: one of them stays', async () => {
    // Each sees only the other, and with a start at which the other wins: the worst that lost answers can do.
    const clock = createManualClock()
    const held = new Map([
      ['barn', true],
      ['mill', true]
    ])
    const yielding = new Set<string>()
    const outcomes: ContestOutcome[] = []
    const sideOf = (me: string, other: string) => {
      const ask: Ask = async (questions) => {
        const holder = holderAt(other, AT - 60_000, { yielding: yielding.has(other) })
        const look = held.get(other) ? looked([holder]) : looked([], 1)
        return new Map(questions.map(({ uid }) => [uid, look]))
      }
      return resolveContests({
        mine: new Map([['u', { ...mine, hostname: me }]]),
        ask,
        clock,
        random: () => 0,
        signal: new AbortController().signal,
        onAsking: (_, asking) => (asking ? yielding.add(me) : yielding.delete(me)),
        settle: (_, outcome) => {
          outcomes.push(outcome)
          if (outcome.kind === 'yield') held.set(me, false)
        }
      })
    }
    const both = Promise.all([sideOf('barn', 'mill'), sideOf('mill', 'barn')])
    await clock.advance(10_000)
    await both
    expect([...held.values()].some((still) => still)).toBe(true)
    expect(outcomes).toHaveLength(2)
  })
})
