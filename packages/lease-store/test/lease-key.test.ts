/** What can be an agent UID: it becomes a file name, on any system, shared with nobody. */
import { describe, expect, it } from 'vitest'
import { foldedKey, leaseKey } from '../src/lease-key.js'

describe('a UID that can be a key', () => {
  it.each([
    'a',
    'demo',
    '7c0e2f4a-0000-4000-8000-1234567890ab',
    'Agent 3',
    'agent.v2',
    'größe',
    '代理',
    '🤖',
    '👩🏽',
    'x'.repeat(200),
    'console',
    'com10',
    'a.lease.json',
    'a.lock',
    '-rf',
    '~',
    '$HOME',
    '#!'
  ])('is kept as it is: %j', (uid) => {
    expect(leaseKey(uid)).toBe(uid)
  })
})

describe('a UID that cannot be a key', () => {
  it.each([
    ['', 'empty'],
    ['a/b', '"/"'],
    ['/etc/passwd', '"/"'],
    ['../x', '"/"'],
    ['..', 'dot'],
    ['.', 'dot'],
    ['.hidden', 'dot'],
    ['ends.', 'dot'],
    ['a\\b', '"\\"'],
    ['a:b', '":"'],
    ['a*', '"*"'],
    ['a?', '"?"'],
    ['a|b', '"|"'],
    ['<a', '"<"'],
    ['a"b', '"""'],
    ['a\0b', 'U+0000'],
    ['a\nb', 'U+000A'],
    ['a\u001b[31m', 'U+001B'],
    ['a\u007f', 'U+007F'],
    ['a\u0085b', 'U+0085'],
    ['a\u200bb', 'U+200B'],
    ['a\u202eb', 'U+202E'],
    ['\ufeffa', 'U+FEFF'],
    ['a\u2028b', 'U+2028'],
    [' a', 'white space'],
    ['a ', 'white space'],
    ['\u00a0a', 'white space'],
    ['e\u0301', 'normal form C'],
    ['\u212bngström', 'normal form C'],
    ['a\ud800', 'surrogate'],
    ['\udc00a', 'surrogate'],
    ['CON', 'Windows'],
    ['con.txt', 'Windows'],
    ['nul', 'Windows'],
    ['COM1', 'Windows'],
    ['com¹', 'Windows'],
    ['lpt9.x', 'Windows'],
    ['aux .x', 'Windows'],
    ['CONIN$', 'Windows'],
    ['x'.repeat(300), '300 bytes'],
    ['é'.repeat(101), '202 bytes']
  ])('is refused with the reason: %j', (uid, reason) => {
    expect(() => leaseKey(uid)).toThrow(RangeError)
    expect(() => leaseKey(uid)).toThrow(reason)
  })

  it.each([undefined, null, 7, {}, ['a']])('is a TypeError if it is no string: %j', (uid) => {
    expect(() => leaseKey(uid as string)).toThrow(TypeError)
  })

  it('is quoted on one line, shortened, without anything a terminal would act on', () => {
    const problem = (uid: string) => {
      try {
        leaseKey(uid)
      } catch (error) {
        return (error as Error).message
      }
      throw new Error('it was accepted')
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be in it
    expect(problem('\u001b[2J\r\n\u009b\u202e')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]/)
    expect(problem('x'.repeat(5_000)).length).toBeLessThan(200)
  })
})

describe('keys that some file system could take for one', () => {
  it.each([
    ['agent', 'AGENT'],
    ['straße', 'STRASSE'],
    ['ẞ', 'ß'],
    ['Ärger', 'ärger'],
    ['ſ', 's'],
    ['ΑΣ', 'ας'],
    ['ﬁ', 'FI']
  ])('fold to the same: %s, %s', (one, other) => {
    expect(foldedKey(one)).toBe(foldedKey(other))
  })

  it('are not those that differ in more than letter case', () => {
    expect(foldedKey('agent')).not.toBe(foldedKey('agént'))
    expect(foldedKey('agent-1')).not.toBe(foldedKey('agent_1'))
  })
})
