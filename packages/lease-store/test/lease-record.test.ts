/** The format of a lease file, byte for byte: other builds read and write it, too. */
import { describe, expect, it } from 'vitest'
import { formatRecord, formatToLength, type LeaseRecord, parseRecord } from '../src/lease-record.js'
import { olderRecord, UID } from './harness/parties.js'

/** `readText` gives one character per byte. */
function bytes(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function parse(value: unknown, key = UID): LeaseRecord | undefined {
  return parseRecord(key, bytes(typeof value === 'string' ? value : JSON.stringify(value)))
}

describe('reading', () => {
  it('accepts the oldest record there is: the required keys alone', () => {
    const record = parse({
      instance_id: UID,
      owner_boot_id: 'b',
      pid: 1,
      acquired_at_ms: -5,
      renewed_at_ms: 0
    })
    expect(record).toMatchObject({
      block_id: '',
      hostname: '',
      claim_id: '',
      epoch: 0,
      ttl_ms: 0,
      pid_start_s: 0
    })
  })

  it('accepts an older build’s record, of which ours are empty or 0', () => {
    expect(parse(olderRecord())).toMatchObject({ channel: 'beta', host_boot_id: '', renewed_boot_ms: 0 })
  })

  it.each(['instance_id', 'owner_boot_id', 'pid', 'acquired_at_ms', 'renewed_at_ms'])(
    'rejects a record without %s',
    (key) => {
      expect(parse({ ...olderRecord(), [key]: undefined })).toBeUndefined()
    }
  )

  it.each([
    ['instance_id', 'another'],
    ['instance_id', UID.toUpperCase()],
    ['owner_boot_id', 7],
    ['block_id', null],
    ['session_id', 3],
    ['pid', '12'],
    ['pid', -1],
    ['pid', 1.5],
    ['pid', 2 ** 32],
    ['acquired_at_ms', '0'],
    ['renewed_at_ms', null],
    ['renewed_at_ms', 0.5],
    ['epoch', -1],
    ['epoch', 2 ** 53],
    ['epoch', 1.5],
    ['hostname', 1],
    ['pid_start_s', -1],
    ['claim_id', {}],
    ['ttl_ms', '15000'],
    ['driver_pid', 2 ** 32]
  ])('rejects %s = %j', (key, value) => {
    expect(parse({ ...olderRecord(), [key]: value })).toBeUndefined()
  })

  it('accepts an epoch of 2^53-1, the largest that is exact', () => {
    expect(parse(olderRecord({ epoch: Number.MAX_SAFE_INTEGER }))?.epoch).toBe(Number.MAX_SAFE_INTEGER)
  })

  it.each([
    '',
    ' ',
    '\0\0\0\0',
    '{',
    'null',
    '[]',
    '"x"',
    '7',
    'not json',
    '{"instance_id":',
    `\ufeff${JSON.stringify(olderRecord())}`,
    `${JSON.stringify(olderRecord())}x`
  ])('rejects what is no record: %j', (text) => {
    expect(parse(text)).toBeUndefined()
  })

  it('reads names beyond ASCII, and rejects bytes that are no UTF-8', () => {
    const text = JSON.stringify(olderRecord({ block_id: 'größe 🤖' }))
    expect(parse(text)?.block_id).toBe('größe 🤖')
    const broken = Buffer.from(text)
    broken[text.indexOf('gr') + 2] = 0xff
    expect(parseRecord(UID, broken.toString('latin1'))).toBeUndefined()
  })
})

describe('writing', () => {
  const record = parse(olderRecord({ block_id: 'größe', future: { nested: [1] } })) as LeaseRecord

  it('keeps keys that nobody here knows', () => {
    expect(JSON.parse(formatRecord(record))).toMatchObject({ future: { nested: [1] } })
  })

  it('ends with one newline, and padding goes before it', () => {
    const text = formatRecord(record)
    expect(text.endsWith('}\n')).toBe(true)
    const length = Buffer.byteLength(text)
    const padded = formatToLength(record, length + 5)
    expect(padded?.length).toBe(length + 5)
    expect(padded?.toString()).toBe(`${text.slice(0, -1)}     \n`)
    expect(formatToLength(record, length)?.toString()).toBe(text)
  })

  it('does not shorten a record to make it fit', () => {
    expect(formatToLength(record, Buffer.byteLength(formatRecord(record)) - 1)).toBeUndefined()
  })
})
