/** Remembering what was read: it must never answer for other bytes. */
import { describe, expect, it } from 'vitest'
import { SeenRecords } from '../src/seen-records.js'
import { olderRecord, UID } from './harness/parties.js'

describe('the memory of records', () => {
  it('gives the same record for the same bytes, and reads any others anew', () => {
    const seen = new SeenRecords()
    const text = JSON.stringify(olderRecord({ epoch: 4 }))
    const first = seen.recordOf(UID, text)
    expect(first?.epoch).toBe(4)
    expect(seen.recordOf(UID, text)).toBe(first)
    expect(seen.recordOf(UID, text.replace('"epoch":4', '"epoch":5'))?.epoch).toBe(5)
    expect(seen.recordOf(UID, text.slice(1))).toBeUndefined()
    expect(seen.recordOf(UID, text)?.epoch).toBe(4)
  })

  it('does not take one key’s record for another’s', () => {
    const seen = new SeenRecords()
    const text = JSON.stringify(olderRecord())
    expect(seen.recordOf('other', text)).toBeUndefined()
    expect(seen.recordOf(UID, text)).toBeDefined()
    expect(seen.recordOf('other', text)).toBeUndefined()
  })

  it('reads texts too long to keep, too', () => {
    const seen = new SeenRecords()
    const text = JSON.stringify(olderRecord({ future: 'x'.repeat(10_000) }))
    expect(seen.recordOf(UID, text)).not.toBe(seen.recordOf(UID, text))
  })

  it('keeps within its room', () => {
    const seen = new SeenRecords()
    const text = JSON.stringify(olderRecord())
    const first = seen.recordOf(UID, text)
    for (let key = 0; key < 16_384; key++) seen.note(`k${key}`, '{}', undefined)
    expect(seen.recordOf(UID, text)).not.toBe(first)
  })
})
