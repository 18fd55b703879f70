import fc from 'fast-check'
import { expect, it } from 'vitest'
import { SseEvents } from '../src/sse-events.js'

const encode = (text: string) => new TextEncoder().encode(text)
const WAKE = 'event: wake\ndata: {"agent_id":"агент"}\n\n'

it('reads events, whatever the pieces they come in and the ends of their lines', () => {
  const stream = encode(`: hello\n\n${WAKE}data:one\ndata: two\nid: 7\n\nevent: nothing\n\n${WAKE}`)
  const expected = [
    { name: 'wake', data: '{"agent_id":"агент"}' },
    { name: 'message', data: 'one\ntwo' },
    { name: 'wake', data: '{"agent_id":"агент"}' }
  ]
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 40 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      (sizes, end) => {
        const text = encode(new TextDecoder().decode(stream).replaceAll('\n', end))
        const events = new SseEvents()
        const read = []
        let at = 0
        for (const size of [...sizes, text.length]) {
          read.push(...events.push(text.slice(at, at + size)))
          at = Math.min(text.length, at + size)
        }
        read.push(...events.push(encode('\n')))
        expect(read).toEqual(expected)
      }
    )
  )
})

it('survives noise, and refuses what never ends', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 }), (pieces) => {
      const events = new SseEvents()
      for (const piece of pieces)
        for (const { name, data } of events.push(piece))
          expect(typeof name + typeof data).toBe('stringstring')
    })
  )
  const endless = new SseEvents()
  expect(() => {
    for (let n = 0; n < 100; n++) endless.push(encode('x'.repeat(1_000)))
  }).toThrow('too long')
  const lines = new SseEvents()
  expect(() => {
    for (let n = 0; n < 100; n++) lines.push(encode(`data: ${'x'.repeat(1_000)}\n`))
  }).toThrow('too long')
})
