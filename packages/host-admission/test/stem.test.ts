import { describe, expect, test } from 'vitest'
import { stem } from '../src/reactive/stem.js'

describe('stem', () => {
  test.each([
    ['Ada', 'ada'],
    ['ada-2_b', 'ada-2_b'],
    ['Ada Lovelace', 'ada_lovelace'],
    ['ÅSA', 'åsa'],
    ['測試٣', '測試٣'],
    ['a.b/c\\d:e', 'a_b_c_d_e'],
    ['..', '__'],
    ['😀x', '_x'],
    ['\u0000\n', '__'],
    ['', '_']
  ])('%j becomes %j', (name, expected) => {
    expect(stem(name)).toBe(expected)
  })

  test('is the same when applied twice', () => {
    for (const name of ['Ada Lovelace', 'İstanbul', 'ΣΑΣ', 'ß.ẞ', '😀'])
      expect(stem(stem(name))).toBe(stem(name))
  })

  test('fits into a file name with its suffix, and ends with a whole character', () => {
    const long = stem('測'.repeat(500))
    expect(Buffer.byteLength(`${long}.json.tmp`)).toBeLessThanOrEqual(255)
    expect(long).toMatch(/^測+$/u)
  })
})
