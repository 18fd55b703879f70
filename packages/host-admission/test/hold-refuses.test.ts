import { describe, expect, test } from 'vitest'
import { formatHold, type HandoverHold, holdRefuses } from '../src/takeover/hold-refuses.js'

const hold: HandoverHold = {
  until_boot_ms: 130_000,
  host_boot_id: 'boot-1',
  to_channel: 'nightly',
  to_version: '1.0.0',
  to_boot_id: ''
}
const reader = {
  host: { hostBootId: 'boot-1' },
  bootMs: 100_000,
  instance: { ownerBootId: 'owner-1', channel: 'stable', version: '1.0.0' }
}
const refusal = { untilBootMs: 130_000, toChannel: 'nightly', toVersion: '1.0.0' }

const ask = (fields: Record<string, unknown>, instance = reader.instance) =>
  holdRefuses(JSON.stringify({ ...hold, ...fields }), { ...reader, instance })

describe('a hold', () => {
  test('refuses whoever is not the successor, and says whom it is kept for', () => {
    expect(holdRefuses(formatHold(hold), reader)).toEqual(refusal)
  })

  test.each([
    [{ channel: 'nightly', version: '1.0.0' }, undefined],
    [{ channel: 'nightly', version: '1.0.1' }, refusal],
    [{ channel: 'stable', version: '1.0.0' }, refusal],
    [{ channel: 'Nightly', version: '1.0.0' }, refusal]
  ])('lets a successor known by channel and version pass: %j', (who, expected) => {
    expect(ask({}, { ...reader.instance, ...who })).toEqual(expected)
    expect(ask({ to_boot_id: undefined }, { ...reader.instance, ...who })).toEqual(expected)
  })

  test('that names one instance lets nobody else pass, not even of the same channel and version', () => {
    const named = { to_boot_id: 'owner-2' }
    const ofChannel = { ownerBootId: 'owner-1', channel: 'nightly', version: '1.0.0' }
    expect(ask(named, ofChannel)).toEqual(refusal)
    expect(ask(named, { ownerBootId: 'owner-2', channel: 'elsewhere', version: '' })).toBeUndefined()
  })

  test.each([
    [100_000, undefined],
    [99_999, undefined],
    [0, undefined],
    [-1, undefined],
    [100_001, true],
    [130_000, true],
    // Two processes do not read the clock in the same instant.
    [130_050, true],
    [130_051, undefined],
    [Number.MAX_SAFE_INTEGER, undefined]
  ])('until %d counts at 100,000 only if it is ahead, and no further than a hold lasts', (until, refused) => {
    expect(ask({ until_boot_ms: until }) && true).toBe(refused)
  })

  test.each([
    ['of another boot', { host_boot_id: 'boot-2' }],
    ['of no boot', { host_boot_id: '' }],
    ['without a time', { until_boot_ms: undefined }],
    ['with a time that is a text', { until_boot_ms: '130000' }],
    ['with a time that is not whole', { until_boot_ms: 120_000.5 }],
    ['without a channel', { to_channel: undefined }],
    ['with a channel that is a number', { to_channel: 1 }],
    ['with a version that is null', { to_version: null }],
    ['with an endless channel', { to_channel: 'x'.repeat(2_000) }],
    ['with an owner that is a number', { to_boot_id: 1 }]
  ])('%s refuses nobody', (_name, fields) => {
    expect(ask(fields)).toBeUndefined()
  })

  test.each(['', '{', 'null', '[]', '7', '"x"', '\0\0\0\0', formatHold(hold).slice(0, -10)])(
    'that is damaged refuses nobody: %j',
    (text) => {
      expect(holdRefuses(text, reader)).toBeUndefined()
    }
  )
})
