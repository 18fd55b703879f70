/** Which epoch comes next (R10): above everything known, and above the clock when the counter cannot be trusted. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEpoch, LARGEST_EPOCH, nextEpoch, readEpoch, writeEpoch } from '../src/epoch-file.js'
import { temporaryFolder } from './harness/folder.js'

const NOW_S = 1_700_000_000
const known = { counter: 0, lease: 0, floor: 0, wallMs: NOW_S * 1_000 + 999 }

describe('the next epoch', () => {
  it('is one more than the largest of counter, lease file and floor', () => {
    expect(nextEpoch(known)).toBe(1)
    expect(nextEpoch({ ...known, counter: 7 })).toBe(8)
    expect(nextEpoch({ ...known, counter: 7, lease: 9 })).toBe(10)
    expect(nextEpoch({ ...known, counter: 7, lease: 9, floor: 12 })).toBe(13)
  })

  it('is also above the Unix time in seconds when the counter is lost', () => {
    expect(nextEpoch({ ...known, counter: undefined })).toBe(NOW_S + 1)
    expect(nextEpoch({ ...known, counter: undefined, lease: NOW_S + 50 })).toBe(NOW_S + 51)
    expect(nextEpoch({ ...known, counter: undefined, floor: NOW_S + 70 })).toBe(NOW_S + 71)
  })

  it('does not follow a clock set before 1970 below what is known', () => {
    expect(nextEpoch({ ...known, counter: undefined, lease: 3, wallMs: -1e12 })).toBe(4)
  })

  it('is 2^53-1 at most, and a lease that says as much or more is damage', () => {
    expect(LARGEST_EPOCH).toBe(2 ** 53 - 2)
    for (const source of ['counter', 'lease', 'floor']) {
      expect(nextEpoch({ ...known, [source]: LARGEST_EPOCH })).toBe(2 ** 53 - 1)
    }
    for (const lease of [2 ** 53 - 1, 2 ** 53]) {
      expect(nextEpoch({ ...known, counter: 7, lease })).toBe(NOW_S + 1)
    }
  })
})

describe('the counter file', () => {
  const path = () => join(temporaryFolder(), 'k.epoch')

  it('is one decimal integer and a newline', () => {
    const file = path()
    writeEpoch(file, 42)
    expect(readFileSync(file, 'utf8')).toBe('42\n')
    expect(readEpoch(file)).toBe(42)
  })

  it('is read with or without its newline', () => {
    const file = path()
    writeFileSync(file, '17')
    expect(readEpoch(file)).toBe(17)
  })

  it.each(['4503599627370497\n', '9007199254740990\n'])('is followed if it says %j', (text) => {
    const file = path()
    writeFileSync(file, text)
    expect(readEpoch(file)).toBe(Number(text))
  })

  it.each([
    '',
    '\n',
    ' 7\n',
    '7 \n',
    '7\n\n',
    '7\r\n',
    '-7\n',
    '+7\n',
    '7.0\n',
    '0x7\n',
    '1e3\n',
    '\0\0\0',
    'seven\n',
    '9007199254740991\n',
    '9007199254740992\n',
    '18446744073709551615\n'
  ])('is damaged if it says %j', (text) => {
    const file = path()
    writeFileSync(file, text)
    expect(readEpoch(file)).toBeUndefined()
  })

  it('is damaged if it is missing or a folder', () => {
    const file = path()
    expect(readEpoch(file)).toBeUndefined()
    mkdirSync(file)
    expect(readEpoch(file)).toBeUndefined()
  })

  it('of a new key never sets back one that appeared meanwhile', () => {
    const file = path()
    writeEpoch(file, 5)
    createEpoch(file)
    expect(readEpoch(file)).toBe(5)
  })
})
