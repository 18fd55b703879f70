import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  holderText,
  isAdmissionRefusal,
  parseRefusal,
  plainText,
  REFUSAL_MARKERS,
  type Refusal,
  refusalToJson,
  waitingMessage,
  watchingMessage
} from '../src/index.js'
import { anyAgent, anyHolder, anyNumber, anyRefusal, hostileText } from './arbitraries.js'

const runs = { numRuns: 3_000 }
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}]/u

function markersIn(text: string): string[] {
  return REFUSAL_MARKERS.filter((marker) => text.toLowerCase().includes(marker))
}

function markersOf(refusal: Refusal): string[] {
  const [held, takenOver, lost] = REFUSAL_MARKERS
  if (refusal.kind === 'held') return [held]
  if (refusal.kind === 'taken-over') return [takenOver]
  if (refusal.kind === 'lost') return [lost]
  return refusal.kind === 'wait-ran-out' && refusal.holder ? [held] : []
}

describe('whatever agents, hosts, paths and errors are called', () => {
  it('a sentence carries the marker of its kind and no other', () => {
    fc.assert(
      fc.property(anyRefusal, (refusal) => {
        expect(markersIn(refusal.message)).toEqual(markersOf(refusal))
      }),
      runs
    )
  })

  it('a sentence is one printable line of bounded length', () => {
    fc.assert(
      fc.property(anyRefusal, ({ message }) => {
        expect(message).not.toMatch(unprintable)
        expect(message.length).toBeLessThan(4_096)
      }),
      runs
    )
  })

  it('a refusal comes back from JSON equal', () => {
    fc.assert(
      fc.property(anyRefusal, (refusal) => {
        expect(parseRefusal(refusalToJson(refusal))).toStrictEqual(refusal)
        expect(parseRefusal(JSON.parse(JSON.stringify(refusal)))).toStrictEqual(refusal)
      }),
      runs
    )
  })

  it('a line of progress and a description of a holder are no refusals', () => {
    fc.assert(
      fc.property(anyAgent, anyHolder, anyNumber, (agent, holder, ms) => {
        const lines = [watchingMessage(agent, ms), waitingMessage(agent, holder, ms), holderText(holder, ms)]
        for (const line of lines) {
          expect(isAdmissionRefusal(line)).toBe(false)
          expect(line).not.toMatch(unprintable)
        }
      }),
      runs
    )
  })
})

describe('whatever arrives', () => {
  it('a string becomes plain once and stays as it is', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 80 }), (text, maxLength) => {
        const plain = plainText(text, maxLength)
        expect(plain).not.toMatch(unprintable)
        expect(Array.from(plain).length).toBeLessThanOrEqual(maxLength)
        expect(plainText(plain, maxLength)).toBe(plain)
      }),
      runs
    )
  })

  it('noise is no refusal and no fault', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.json()), (noise) => parseRefusal(noise) === undefined),
      runs
    )
  })

  it('a refusal with one field replaced is read as none, or as one that keeps the promises', () => {
    fc.assert(
      fc.property(anyRefusal, fc.nat(), fc.anything(), (refusal, at, value) => {
        const keys = Object.keys(refusal)
        const read = parseRefusal({ ...refusal, [keys[at % keys.length] ?? 'kind']: value })
        if (read === undefined) return
        expect(markersIn(read.message)).toEqual(markersOf(read))
        expect(read.message).not.toMatch(unprintable)
        expect(parseRefusal(refusalToJson(read))).toStrictEqual(read)
      }),
      runs
    )
  })
})
