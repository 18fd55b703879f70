import { describe, expect, it } from 'vitest'
import { plainText } from '../src/index.js'

describe('a string from elsewhere', () => {
  it.each([
    ['a colour', '\u001b[1;31mred\u001b[0m', 'red'],
    ['a one-character colour', '\u009b31mred', 'red'],
    ['a window title', '\u001b]0;owned\u0007barn', 'barn'],
    ['a link', '\u001b]8;;http://x\u001b\\barn\u001b]8;;\u001b\\', 'barn'],
    ['a device string', '\u001bPq#0\u001b\\barn', 'barn'],
    ['a reset', '\u001bcbarn', 'barn'],
    ['an unfinished sequence', 'barn\u001b[', 'barn['],
    ['line breaks and tabs', 'a\r\nb\tc\u2028d', 'a  b c d'],
    ['a bell, a backspace, a NUL', 'b\u0007a\u0008r\u0000n', 'barn'],
    ['text that runs backwards', 'a\u202enrab\u202c', 'anrab'],
    ['invisible characters', 'b\u200ba\u00adr\ufeffn\u2060', 'barn'],
    ['half of a pair', 'a\ud83d', 'a'],
    ['space around it', '  barn\n', 'barn']
  ])('loses %s', (_what, from, to) => expect(plainText(from, 50)).toBe(to))

  it('keeps letters of every script, and counts a pair as one', () => {
    expect(plainText('Grüße 火 🙂', 50)).toBe('Grüße 火 🙂')
    expect(plainText('🙂🙂🙂', 3)).toBe('🙂🙂🙂')
    expect(plainText('🙂🙂🙂🙂', 3)).toBe('🙂🙂…')
  })

  it.each([undefined, null, 7, {}, ['a']])('is empty if it is none: %j', (value) => {
    expect(plainText(value, 50)).toBe('')
  })

  // Reading on from each part to the end, for nothing, would take longer than a test may.
  it.each(['\u001b]', '\u001b[', '\u0090', '\u009b', '\u001b[0', '\u001b ', 'a'])(
    'is read in one pass, however much of %j it holds',
    (part) => {
      expect(plainText(part.repeat(400_000), 1_000_000).length).toBeLessThanOrEqual(1_000_000)
    }
  )

  it('is not read beyond what can matter', () => {
    expect(plainText('\u0000'.repeat(80), 10)).toBe('')
    expect(plainText(`${'\u0000'.repeat(80)}barn`, 10)).toBe('')
  })
})
