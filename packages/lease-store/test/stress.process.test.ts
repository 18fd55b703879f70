/** A few seconds of `pnpm stress`, and that what checks its history would notice. */
import { describe, expect, it } from 'vitest'
import { type StressEvent, violationsIn } from '../../../bench/stress/history.mjs'
import { runStress } from '../../../bench/stress/run-stress.mjs'
import { diskFolder } from './harness/folder.js'

const SEED = 6

/** Events of one key, one every 100 ms unless they say otherwise. */
function history(...events: (Partial<StressEvent> & { what: string; process: string })[]): StressEvent[] {
  return events.map((event, index) => ({
    key: 'k',
    claim: event.process,
    ttlMs: 1_000,
    invoked: event.at ?? 100 * index,
    at: 100 * index + 1,
    ...event
  }))
}

describe('the check of a history', () => {
  const granted = { what: 'granted', process: 'a', epoch: 1 }
  const released = { what: 'released', process: 'a' }
  const killed = [
    { what: 'killing', process: 'a' },
    { what: 'gone', process: 'a' }
  ]

  it.each([
    [
      'one after the other',
      [granted, { what: 'releasing', process: 'a' }, released, { ...granted, process: 'b', epoch: 2 }]
    ],
    ['after a death', [granted, ...killed, { ...granted, process: 'b', epoch: 2 }]],
    ['after an expiry', [granted, { ...granted, process: 'b', epoch: 2, at: 1_500, invoked: 1_400 }]],
    ['lost after an expiry', [granted, { what: 'lost', process: 'a', at: 1_500 }]],
    ['refused by who holds', [granted, { what: 'refused', process: 'b', epoch: 1 }]]
  ])('finds nothing wrong with claims %s', (_, events) => {
    expect(violationsIn(history(...events))).toEqual([])
  })

  it.each([
    ['two holders at once', [granted, { ...granted, process: 'b', epoch: 2 }], 'while a held 1'],
    [
      'two holders at once after a renewal',
      [
        granted,
        { what: 'renewed', process: 'a', invoked: 900, at: 901 },
        { ...granted, process: 'b', epoch: 2, invoked: 1_500, at: 1_501 }
      ],
      'while a held 1'
    ],
    [
      'an epoch given twice',
      [granted, { what: 'releasing', process: 'a' }, released, { ...granted, process: 'b' }],
      'given twice'
    ],
    [
      'an epoch that went back',
      [
        { ...granted, epoch: 7 },
        { what: 'releasing', process: 'a' },
        released,
        { ...granted, process: 'b', epoch: 3 }
      ],
      'after 7'
    ],
    ['a lease lost before its time', [granted, { what: 'lost', process: 'a' }], 'before its time'],
    [
      'a lease that was gone when it was to be released',
      [granted, { what: 'releasing', process: 'a' }, { what: 'lost', process: 'a' }],
      'before its time'
    ],
    [
      'a lease held after its release',
      [granted, { what: 'releasing', process: 'a' }, released, { what: 'held', process: 'a' }],
      'after its release'
    ],
    [
      'a refusal by what was released',
      [granted, { what: 'releasing', process: 'a' }, released, { what: 'refused', process: 'b', epoch: 1 }],
      'after its release'
    ],
    [
      'a refusal by the dead',
      [granted, ...killed, { what: 'refused', process: 'b', epoch: 1 }],
      'which was dead'
    ],
    ['a call that failed', [{ what: 'fault', process: 'a', code: 'io' }], 'a call failed: io']
  ])('finds %s', (_, events, text) => {
    const found = violationsIn(history(...events))
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(text)
  })
})

describe('processes that are stopped and killed, with wall clocks that jump, beside older builds', () => {
  it('never hold at the same time, under ever higher epochs, and their releases are final', {
    timeout: 300_000
  }, async () => {
    const { events } = await runStress({ folder: diskFolder(), processes: 6, seconds: 2, seed: SEED })
    expect(violationsIn(events)).toEqual([])
    const holders = new Set(events.filter(({ what }) => what === 'granted').map(({ process }) => process))
    expect(holders.size).toBeGreaterThanOrEqual(6)
  })
})
