/** The lines of a record, and output in pieces. */

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { outputEvents } from '../src/record/output-events.js'
import {
  encodeBatch,
  MAX_BATCH_BYTES,
  MAX_LINE_BYTES,
  parseLine,
  type RecordEvent
} from '../src/record/record-line.js'

/** What encodes as one line, parsed. */
function throughALine(event: RecordEvent) {
  const { bytes } = encodeBatch([event], 7, 1_700_000_000_000)
  return parseLine(bytes.subarray(0, -1), 100)
}

const events = fc.record({
  kind: fc.string({ minLength: 1 }),
  text: fc.string({ unit: 'binary' }),
  more: fc.jsonValue()
})

describe('a line', () => {
  test('carries the epoch, the time, the kind and whatever else the event has', () => {
    const { bytes, lineEnds } = encodeBatch([{ kind: 'turn', text: 'a\nb' }, { kind: 'end' }], 3, 5)
    const first = '{"epoch":3,"at_ms":5,"kind":"turn","text":"a\\nb"}\n'
    expect(bytes.toString()).toBe(`${first}{"epoch":3,"at_ms":5,"kind":"end"}\n`)
    expect(lineEnds).toEqual([first.length, bytes.length])
  })

  test('is read back as it was written, wherever it stands', () => {
    fc.assert(
      fc.property(events, (event) => {
        const item = throughALine(event)
        expect(item).toMatchObject({ kind: 'line', position: 100, epoch: 7, atMs: 1_700_000_000_000 })
        const written = JSON.parse(JSON.stringify(event))
        expect(item.kind === 'line' && item.event).toEqual(written)
      })
    )
  })

  test('never passes for a whole one when it was cut short', () => {
    fc.assert(
      fc.property(events, fc.nat(), (event, cut) => {
        const { bytes } = encodeBatch([event], 7, 5)
        const whole = bytes.length - 1
        expect(parseLine(bytes.subarray(0, cut % whole), 0).kind).toBe('damage')
      })
    )
  })

  test('of noise is damage, never an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from)), (noise) => {
        const item = parseLine(Buffer.from(noise), 0)
        expect(['damage', 'line']).toContain(item.kind)
      })
    )
  })

  test.each([
    '',
    'null',
    '[]',
    '7',
    '{}',
    '{"epoch":1,"at_ms":5}',
    '{"epoch":0,"at_ms":5,"kind":"x"}',
    '{"epoch":1.5,"at_ms":5,"kind":"x"}',
    '{"epoch":"1","at_ms":5,"kind":"x"}',
    '{"epoch":9007199254740992,"at_ms":5,"kind":"x"}',
    '{"epoch":1,"at_ms":"5","kind":"x"}',
    '{"epoch":1,"at_ms":5,"kind":""}',
    '\0\0\0\0'
  ])('is damage when it reads %j', (text) => {
    expect(parseLine(Buffer.from(text), 0)).toMatchObject({ kind: 'damage', why: 'unreadable' })
  })

  test('may be as long as the limit and no longer', () => {
    const empty = encodeBatch([{ kind: 'x', text: '' }], 1, 5).bytes.length
    const longest = { kind: 'x', text: 'y'.repeat(MAX_LINE_BYTES - empty) }
    const { bytes } = encodeBatch([longest], 1, 5)
    expect(bytes.length).toBe(MAX_LINE_BYTES)
    expect(parseLine(bytes.subarray(0, -1), 0).kind).toBe('line')
    expect(() => encodeBatch([{ ...longest, text: `${longest.text}y` }], 1, 5)).toThrow(RangeError)
    expect(parseLine(Buffer.alloc(MAX_LINE_BYTES, 'y'), 0)).toMatchObject({ why: 'oversized' })
  })

  test('is refused at once if it cannot be written', () => {
    expect(() => encodeBatch([{ kind: '' }], 1, 5)).toThrow(TypeError)
    expect(() => encodeBatch([{ kind: 'x', epoch: 9 }], 1, 5)).toThrow(TypeError)
    expect(() => encodeBatch([{ kind: 'x', n: 1n }], 1, 5)).toThrow(TypeError)
    for (const epoch of [0, -1, 1.5, Number.NaN, Number.MAX_SAFE_INTEGER + 1]) {
      expect(() => encodeBatch([{ kind: 'x' }], epoch, 5)).toThrow(RangeError)
    }
    const large = Array.from({ length: 17 }, () => ({
      kind: 'x',
      text: 'y'.repeat(MAX_BATCH_BYTES / 16 - 100)
    }))
    expect(() => encodeBatch(large, 1, 5)).toThrow(RangeError)
  })
})

describe('output', () => {
  test('in pieces is the text again, and every piece fits a line', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      fc.constantFrom('\0', '\ud800', '\u{1f600}', 'é', '\u2028')
    )
    fc.assert(
      fc.property(anyText, fc.nat(30_000), (unit, units) => {
        const text = unit.repeat(Math.ceil(units / Math.max(1, unit.length)))
        const pieces = outputEvents('stdout', text)
        for (const piece of pieces) expect(throughALine(piece).kind).toBe('line')
        expect(pieces.map((piece) => piece.text).join('')).toBe(text)
      }),
      { numRuns: 60 }
    )
  })

  test('is never cut between the halves of a character', () => {
    const text = `x${'\u{1f600}'.repeat(20_000)}`
    for (const piece of outputEvents('stderr', text)) {
      expect(piece.stream).toBe('stderr')
      expect(piece.text as string).not.toMatch(/[\ud800-\udbff]$/)
    }
  })

  test('of nothing is no event', () => {
    expect(outputEvents('stdout', '')).toEqual([])
  })
})
