import { describe, expect, it } from 'vitest'
import { parseHolding, parseHoldings } from '../src/holdings/holding.js'

const held = { held: true, hostname: 'Barn ', channel: 'stable', version: '1', acquired_at_ms: 17 }
const claim = 'ab'.repeat(32)

describe('a holding', () => {
  it('is read in the form of a lease', () => {
    expect(parseHolding({ ...held, claim: claim.toUpperCase(), yielding: true })).toEqual({
      kind: 'held',
      hostname: 'barn',
      channel: 'stable',
      version: '1',
      acquiredAtMs: 17,
      claim,
      yielding: true
    })
  })

  it('of an older build has no claim', () => {
    expect(parseHolding(held)).toMatchObject({ kind: 'held', claim: '', yielding: false })
  })

  it('that is not held says nothing more', () => {
    expect(parseHolding({ held: false, hostname: 5, anything: {} })).toEqual({ kind: 'not-held' })
  })

  it.each([
    null,
    true,
    [],
    'held',
    {},
    { held: 'true' },
    { held: 1 },
    { ...held, hostname: undefined },
    { ...held, hostname: 'x'.repeat(254) },
    { ...held, channel: 'x'.repeat(65) },
    { ...held, version: 3 },
    { ...held, acquired_at_ms: '17' },
    { ...held, acquired_at_ms: 1.5 },
    { ...held, acquired_at_ms: null },
    { ...held, acquired_at_ms: Number.POSITIVE_INFINITY },
    { ...held, acquired_at_ms: 2 ** 60 }
  ])('is none: %j', (value) => {
    expect(parseHolding(value)).toBeUndefined()
  })

  it.each([claim.slice(1), `${claim}0`, 'not a hash', 7, {}, null])(
    'has no claim where that is no hash: %j',
    (odd) => {
      expect(parseHolding({ ...held, claim: odd })).toMatchObject({ kind: 'held', claim: '' })
    }
  )
})

describe('an answer to many questions', () => {
  it('is read for the agents that were asked about and for no other', () => {
    const body = { holdings: { a: held, b: { held: false }, c: 'noise', uninvited: held } }
    const read = parseHoldings(body, ['a', 'b', 'c', 'd'])
    expect([...(read ?? [])].map(([uid, { kind }]) => [uid, kind])).toEqual([
      ['a', 'held'],
      ['b', 'not-held']
    ])
  })

  it('takes no agent from the prototype of anything', () => {
    const uids = ['__proto__', 'constructor', 'toString']
    expect(parseHoldings(JSON.parse('{"holdings":{}}'), uids)?.size).toBe(0)
    const body = JSON.parse(`{"holdings":{"__proto__":${JSON.stringify(held)}}}`)
    expect([...(parseHoldings(body, uids)?.keys() ?? [])]).toEqual(['__proto__'])
  })

  it.each([null, [], {}, { holdings: null }, { holdings: [] }, { holdings: 'x' }])('is none: %j', (body) => {
    expect(parseHoldings(body, ['a'])).toBeUndefined()
  })
})
