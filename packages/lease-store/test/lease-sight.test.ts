/** Reading a file that others rewrite without waiting for them: what counts as read. */
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, it } from 'vitest'
import { LeaseSight } from '../src/lease-sight.js'
import { type FileText, MISSING, ODD } from '../src/small-file.js'
import { HERE, olderRecord, TTL_MS, UID } from './harness/parties.js'

const record = olderRecord()
const text = (epoch: number): FileText => ({ kind: 'text', text: JSON.stringify({ ...record, epoch }) })
const half: FileText = { kind: 'text', text: JSON.stringify(record).slice(0, 100) }

/** What is made of a file that reads like this, one time after the other, and then for ever like the last. */
function settledOn(...reads: FileText[]) {
  let count = 0
  const read = () => reads[Math.min(count++, reads.length - 1)] ?? MISSING
  const eyes = new LeaseSight({ folder: '/', host: HERE, clock: createManualClock(), ttlMs: TTL_MS, read })
  const sight = eyes.settled(UID, '/k.lease.json')
  return { sight: sight.kind === 'record' ? sight.record.epoch : sight.kind, count }
}

describe('a file that is read without its lock', () => {
  it('counts once two reads in a row agree', () => {
    expect(settledOn(text(1))).toEqual({ sight: 1, count: 2 })
    expect(settledOn(text(1), text(2), text(2))).toEqual({ sight: 2, count: 3 })
    expect(settledOn(text(1), text(2), text(3), text(4), text(4))).toEqual({ sight: 4, count: 5 })
  })

  it('does not count while it is half written, even if it stays so for two reads', () => {
    expect(settledOn(half, text(1), text(1)).sight).toBe(1)
    expect(settledOn(half, half, text(1), text(1)).sight).toBe(1)
    expect(settledOn(text(1), half, half, text(2), text(2)).sight).toBe(2)
  })

  it('is damaged if it does not get whole in a few reads', () => {
    expect(settledOn(half)).toEqual({ sight: 'unreadable', count: 8 })
  })

  it('is missing, or odd, once two reads agree on that', () => {
    expect(settledOn(MISSING)).toEqual({ sight: 'missing', count: 2 })
    expect(settledOn(ODD)).toEqual({ sight: 'unreadable', count: 2 })
    expect(settledOn(MISSING, text(1), text(1)).sight).toBe(1)
    expect(settledOn(text(1), MISSING, MISSING).sight).toBe('missing')
  })

  it('is not waited for when it never settles: the last read is the answer', () => {
    const ever = Array.from({ length: 50 }, (_, index) => text(index + 1))
    expect(settledOn(...ever)).toEqual({ sight: 8, count: 8 })
  })
})
