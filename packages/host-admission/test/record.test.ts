/** The shared record in one process: order, epochs, damage, segments, reading and following. */
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { createManualClock } from '@agentmux/lease-model/testing'
import { LARGEST_EPOCH } from '@agentmux/lease-store'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RecordFault } from '../src/record/record-fault.js'
import { MAX_LINE_BYTES, type RecordItem } from '../src/record/record-line.js'
import { SharedRecord, type SharedRecordOptions } from '../src/record/shared-record.js'
import { contents, linesOf, readAll, segmentsOf, tempRoot } from './record-scene.js'

let root: string
let record: SharedRecord

beforeEach(() => {
  root = tempRoot()
  record = new SharedRecord(root)
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function reopened(options: SharedRecordOptions = {}): SharedRecord {
  return new SharedRecord(root, options)
}

async function append(into: SharedRecord, epoch: number, ...numbers: number[]) {
  return into.append('uid-1', { epoch, events: numbers.map((n) => ({ kind: 'n', n })) })
}

async function numbers(from: SharedRecord = record): Promise<unknown[]> {
  return linesOf(await readAll(from, 'uid-1')).map((line) => line.event.n)
}

function sidecar(): string {
  return join(record.pathOf('uid-1'), 'epoch')
}

function lastSegment(): string {
  return segmentsOf(record, 'uid-1').at(-1) as string
}

describe('an append', () => {
  test('where no folder can be made is a fault that names it, and ends', async () => {
    const fault = { name: 'RecordFault', code: 'io', message: expect.stringContaining('/proc/none') }
    await expect(append(new SharedRecord('/proc/none'), 1, 1)).rejects.toMatchObject(fault)
  })

  test('puts its events behind all others, in their order, under its epoch', async () => {
    const first = await append(record, 3, 1, 2)
    const second = await append(record, 3, 3)
    const items = await readAll(record, 'uid-1')
    expect(linesOf(items).map(({ epoch, event }) => [epoch, event])).toEqual([
      [3, { kind: 'n', n: 1 }],
      [3, { kind: 'n', n: 2 }],
      [3, { kind: 'n', n: 3 }]
    ])
    expect(first).toEqual({ kind: 'appended', position: 0, next: items[1]?.next })
    expect(second).toEqual({ kind: 'appended', position: items[2]?.position, next: items[2]?.next })
  })

  test('keeps agents apart', async () => {
    await record.append('uid-1', { epoch: 9, events: [{ kind: 'a' }] })
    await record.append('uid-2', { epoch: 1, events: [{ kind: 'b' }] })
    expect(linesOf(await readAll(record, 'uid-2')).map((line) => line.event.kind)).toEqual(['b'])
    expect(record.highestEpoch('uid-2')).toBe(1)
  })

  test('made while others are on their way is written in the order of the calls', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, n) => append(record, 1, n)))
    expect(await numbers()).toEqual(Array.from({ length: 200 }, (_, n) => n))
  })

  test('leaves files that only their owner can read', async () => {
    await append(record, 1, 1)
    const modes = [record.pathOf('uid-1'), sidecar(), lastSegment()].map(
      (path) => statSync(path).mode & 0o777
    )
    expect(modes).toEqual([0o700, 0o600, 0o600])
  })

  test('that is durable is acknowledged like any other', async () => {
    const result = await record.append('uid-1', { epoch: 1, events: [{ kind: 'n', n: 1 }], durable: true })
    expect(result.kind).toBe('appended')
    expect(await numbers()).toEqual([1])
  })

  test('with an aborted signal throws its reason and writes nothing', async () => {
    const request = { epoch: 1, events: [{ kind: 'n', n: 1 }], signal: AbortSignal.abort('enough') }
    await expect(record.append('uid-1', request)).rejects.toBe('enough')
    expect(await numbers()).toEqual([])
  })

  test('that its caller forbids at the last moment writes nothing', async () => {
    const request = { epoch: 5, events: [{ kind: 'n', n: 1 }] }
    expect(await record.appendIf('uid-1', request, () => false)).toEqual({ kind: 'withheld' })
    expect(record.highestEpoch('uid-1')).toBe(0)
    expect(await numbers()).toEqual([])
  })

  test('of what cannot be a UID, an epoch or an event is a mistake, told at once', async () => {
    await expect(record.append('../x', { epoch: 1, events: [] })).rejects.toThrow(RangeError)
    await expect(record.append('uid-1', { epoch: 0, events: [] })).rejects.toThrow(RangeError)
    await expect(record.append('uid-1', { epoch: 1, events: [{ kind: '' }] })).rejects.toThrow(TypeError)
    expect(contents(root)).toEqual({})
  })

  test('where nothing can be written is a fault with its path', async () => {
    mkdirSync(join(root, 'agents'))
    writeFileSync(join(root, 'agents', 'records'), '')
    const fault = await append(record, 1, 1).catch((error: unknown) => error)
    expect(fault).toBeInstanceOf(RecordFault)
    expect(fault).toMatchObject({ code: 'io', errno: 'ENOTDIR', appendedLines: 0 })
    expect((fault as RecordFault).path).toContain(join('agents', 'records', 'uid-1'))
  })

  test('never writes through a link that was put in the place of a segment', async () => {
    await append(record, 1, 1)
    const target = join(root, 'target')
    writeFileSync(target, '')
    rmSync(lastSegment())
    symlinkSync(target, join(record.pathOf('uid-1'), '0000000000000000.jsonl'))
    await expect(append(reopened(), 1, 2)).rejects.toMatchObject({ code: 'io', errno: 'ELOOP' })
    expect(readFileSync(target, 'utf8')).toBe('')
  })
})

describe('the highest epoch', () => {
  test('is 0 for an agent without a record, and looking creates nothing', async () => {
    expect(record.highestEpoch('uid-1')).toBe(0)
    expect(await record.read('uid-1')).toEqual({ items: [], next: 0, atEnd: true })
    expect(contents(root)).toEqual({})
  })

  test('turns away every append below it, and tells what it is', async () => {
    await append(record, 4, 1)
    expect(await append(record, 3, 2)).toEqual({ kind: 'rejected', highestEpoch: 4 })
    expect(await append(reopened(), 3, 2)).toEqual({ kind: 'rejected', highestEpoch: 4 })
    expect((await append(record, 4, 3)).kind).toBe('appended')
    expect((await append(record, 5, 4)).kind).toBe('appended')
    expect(await append(record, 4, 5)).toEqual({ kind: 'rejected', highestEpoch: 5 })
    expect(await numbers()).toEqual([1, 3, 4])
  })

  test('raised elsewhere is seen by a writer that had the record to itself before', async () => {
    await append(record, 1, 1)
    await append(reopened(), 2, 2)
    expect(await append(record, 1, 3)).toEqual({ kind: 'rejected', highestEpoch: 2 })
  })

  test('is made known by an append without events', async () => {
    await append(record, 1, 1)
    expect((await append(reopened(), 2)).kind).toBe('appended')
    expect(record.highestEpoch('uid-1')).toBe(2)
    expect(await append(record, 1, 2)).toEqual({ kind: 'rejected', highestEpoch: 2 })
    expect(await numbers()).toEqual([1])
  })

  test.each([
    ['gone', undefined],
    ['empty', ''],
    ['half', '7'],
    ['NUL bytes', '\0\0\0'],
    ['text', 'seven\n'],
    ['negative', '-7\n'],
    ['beyond what is exact', '9007199254740992\n'],
    ['lower', '2\n'],
    ['two lines', '7\n8\n']
  ])('is known from the lines when its file is %s, and mended by the next append', async (_, damage) => {
    await append(record, 7, 1)
    rmSync(sidecar())
    if (damage !== undefined) writeFileSync(sidecar(), damage)
    expect(reopened().highestEpoch('uid-1')).toBe(7)
    expect(await append(record, 6, 2)).toEqual({ kind: 'rejected', highestEpoch: 7 })
    expect(await append(reopened(), 6, 2)).toEqual({ kind: 'rejected', highestEpoch: 7 })
    expect((await append(reopened(), 7, 3)).kind).toBe('appended')
    expect(readFileSync(sidecar(), 'utf8')).toBe('7\n')
  })

  test('is known from its file when the lines are damaged', async () => {
    await append(record, 7, 1)
    writeFileSync(lastSegment(), Buffer.alloc(500))
    expect(reopened().highestEpoch('uid-1')).toBe(7)
    expect(await append(reopened(), 6, 2)).toEqual({ kind: 'rejected', highestEpoch: 7 })
  })

  test('is found in an earlier segment, behind damage larger than any line', async () => {
    await append(record, 7, 1)
    await append(reopened({ segmentBytes: 1 }), 7, 2)
    writeFileSync(lastSegment(), Buffer.alloc(5 * MAX_LINE_BYTES, 'x'))
    rmSync(sidecar())
    expect(reopened().highestEpoch('uid-1')).toBe(7)
  })

  test.each([1, 3_000, MAX_LINE_BYTES, 3 * MAX_LINE_BYTES])(
    'is found in front of %i bytes of noise',
    async (bytes) => {
      await append(record, 6, 1)
      await record.append('uid-1', { epoch: 7, events: [{ kind: 'long', text: 'y'.repeat(65_000) }] })
      appendFileSync(lastSegment(), Buffer.alloc(bytes, 'x'))
      rmSync(sidecar())
      expect(reopened().highestEpoch('uid-1')).toBe(7)
    }
  )

  test('may be the one after the largest that is followed, and no further', async () => {
    await append(record, LARGEST_EPOCH + 1, 1)
    expect(reopened().highestEpoch('uid-1')).toBe(LARGEST_EPOCH + 1)
    await expect(append(record, LARGEST_EPOCH + 2, 1)).rejects.toThrow(RangeError)
  })
})

describe('a torn line', () => {
  test('is left as it is: the next append begins on a new line, and readers report the gap', async () => {
    await append(record, 1, 1, 2)
    appendFileSync(lastSegment(), '{"epoch":1,"at_ms":5,"ki')
    expect(await numbers()).toEqual([1, 2])
    expect((await append(record, 1, 3)).kind).toBe('appended')
    expect((await append(reopened(), 1, 4)).kind).toBe('appended')
    const items = await readAll(record, 'uid-1')
    expect(items.map((item) => (item.kind === 'line' ? item.event.n : item.why))).toEqual([
      1,
      2,
      'unreadable',
      3,
      4
    ])
  })

  test('at the end of a segment that was left is reported too', async () => {
    await append(record, 1, 1)
    appendFileSync(lastSegment(), '{"epoch":1,"at_ms":5,"ki')
    await append(reopened({ segmentBytes: 1 }), 1, 2)
    const items = await readAll(record, 'uid-1')
    expect(items.map((item) => (item.kind === 'line' ? item.event.n : item.why))).toEqual([
      1,
      'unreadable',
      2
    ])
    expect(items.map((item) => item.next).slice(0, -1)).toEqual(items.map((item) => item.position).slice(1))
  })

  test('may be a record of nothing else', async () => {
    await append(record, 1, 1)
    truncateSync(lastSegment(), 5)
    expect((await append(reopened(), 1, 2)).kind).toBe('appended')
    expect(await numbers()).toEqual([2])
  })

  test('of any size, or of NUL bytes after a power loss, does not hide what follows', async () => {
    for (const noise of [
      Buffer.alloc(10),
      Buffer.alloc(300_000),
      Buffer.alloc(900_000, 'z'),
      Buffer.from('\n\n')
    ]) {
      await append(reopened(), 1, noise.length)
      appendFileSync(lastSegment(), noise)
    }
    await append(reopened(), 1, 0)
    const items = await readAll(record, 'uid-1')
    expect(linesOf(items).map((line) => line.event.n)).toEqual([10, 300_000, 900_000, 2, 0])
    expect(items.flatMap((item) => (item.kind === 'damage' ? [item.why] : []))).toEqual([
      'unreadable',
      'oversized',
      'oversized',
      'unreadable',
      'unreadable'
    ])
    expect(items.map((item) => item.next).slice(0, -1)).toEqual(items.map((item) => item.position).slice(1))
  })
})

describe('segments', () => {
  test('follow each other by size, and nothing is removed', async () => {
    const small = reopened({ segmentBytes: 300 })
    for (let n = 0; n < 50; n++) await append(small, 1, n)
    expect(segmentsOf(record, 'uid-1').length).toBeGreaterThan(5)
    for (const path of segmentsOf(record, 'uid-1')) expect(statSync(path).size).toBeLessThanOrEqual(300)
    expect(await numbers()).toEqual(Array.from({ length: 50 }, (_, n) => n))
  })

  test('begun by another writer are found by one that remembers the segment before', async () => {
    await append(record, 1, 1)
    await append(reopened({ segmentBytes: 1 }), 1, 2)
    await append(record, 1, 3)
    expect(segmentsOf(record, 'uid-1').length).toBe(2)
    expect(await numbers()).toEqual([1, 2, 3])
  })

  test('that a writer left empty are written to', async () => {
    await append(record, 4, 1)
    const size = statSync(lastSegment()).size
    writeFileSync(join(record.pathOf('uid-1'), `${String(size).padStart(16, '0')}.jsonl`), '')
    rmSync(sidecar())
    expect(await append(record, 3, 2)).toEqual({ kind: 'rejected', highestEpoch: 4 })
    await append(record, 4, 2)
    expect(segmentsOf(record, 'uid-1').length).toBe(2)
    expect(await numbers()).toEqual([1, 2])
  })

  test('are removed from the oldest on only if that was asked for, and a reader is told', async () => {
    const small = reopened({ segmentBytes: 300, keepSegments: 2 })
    for (let n = 0; n < 50; n++) await append(small, 2, n)
    expect(segmentsOf(record, 'uid-1').length).toBe(2)
    const items = await readAll(record, 'uid-1')
    expect(items[0]).toMatchObject({ kind: 'damage', position: 0, why: 'missing' })
    expect(linesOf(items).at(-1)?.event.n).toBe(49)
    expect(await append(reopened(), 1, 50)).toEqual({ kind: 'rejected', highestEpoch: 2 })
  })
})

describe('reading', () => {
  test('goes on from where it stopped, by limit', async () => {
    await append(reopened({ segmentBytes: 200 }), 1, ...Array.from({ length: 20 }, (_, n) => n))
    const first = await record.read('uid-1', { limit: 7 })
    expect([first.items.length, first.atEnd]).toEqual([7, false])
    const rest = await record.read('uid-1', { from: first.next })
    expect(rest.items.map((item) => item.kind === 'line' && item.event.n)).toEqual(
      Array.from({ length: 13 }, (_, n) => n + 7)
    )
    expect(rest.atEnd).toBe(true)
    expect(await record.read('uid-1', { from: rest.next })).toEqual({
      items: [],
      next: rest.next,
      atEnd: true
    })
  })

  test('stops early when the lines are long', async () => {
    for (let n = 0; n < 60; n++) {
      await record.append('uid-1', { epoch: 1, events: [{ kind: 'n', n, text: 'x'.repeat(60_000) }] })
    }
    const result = await record.read('uid-1')
    expect(result.items.length).toBeLessThan(20)
    expect(result.atEnd).toBe(false)
    expect(await numbers()).toEqual(Array.from({ length: 60 }, (_, n) => n))
  })

  test('from inside a line means from the line after it, and from beyond the end nothing', async () => {
    await append(record, 1, 1, 2, 3)
    const items = await readAll(record, 'uid-1')
    for (let from = 1; from <= (items[2]?.next ?? 0) + 5; from++) {
      const expected = items.filter((item) => item.position >= from)
      expect(await readAll(record, 'uid-1', from)).toEqual(expected)
    }
  })

  test('refuses what is no position or limit', async () => {
    await expect(record.read('uid-1', { from: -1 })).rejects.toThrow(RangeError)
    await expect(record.read('uid-1', { from: 0.5 })).rejects.toThrow(RangeError)
    await expect(record.read('uid-1', { limit: 0 })).rejects.toThrow(RangeError)
    expect(() => record.follow('uid-1', { from: Number.NaN })).toThrow(RangeError)
  })

  test('changes no file', async () => {
    await append(record, 1, 1)
    appendFileSync(lastSegment(), 'torn')
    const before = contents(root)
    await readAll(reopened(), 'uid-1')
    reopened().highestEpoch('uid-1')
    expect(contents(root)).toEqual(before)
  })
})

describe('following to its end', () => {
  test('ends after the last item, whether the end was known before or comes while it waits', async () => {
    const record = reopened()
    const append = (n: number) => record.append('uid-1', { events: [{ kind: 'output', n }], epoch: 1 })
    await append(1)
    const end = new AbortController()
    const seen: unknown[] = []
    for await (const item of record.follow('uid-1', { last: end.signal })) {
      if (item.kind === 'line') seen.push(item.event.n)
      if (seen.length < 3) await append(seen.length + 1)
      else end.abort()
    }
    expect(seen).toEqual([1, 2, 3])
    const again: unknown[] = []
    for await (const item of record.follow('uid-1', { last: end.signal })) {
      if (item.kind === 'line') again.push(item.event.n)
    }
    expect(again).toEqual(seen)
  })
})

describe('following', () => {
  async function take(items: AsyncIterable<RecordItem>, count: number): Promise<unknown[]> {
    const taken: unknown[] = []
    for await (const item of items) {
      taken.push(item.kind === 'line' ? item.event.n : item.why)
      if (taken.length === count) break
    }
    return taken
  }

  test('gives what stands there and then what comes, across segments', async () => {
    const small = reopened({ segmentBytes: 500 })
    for (let n = 0; n < 30; n++) await append(small, 1, n)
    const followed = take(record.follow('uid-1'), 300)
    for (let n = 30; n < 300; n++) await append(small, 1, n)
    expect(await followed).toEqual(Array.from({ length: 300 }, (_, n) => n))
    expect(segmentsOf(record, 'uid-1').length).toBeGreaterThan(10)
  })

  test('from a position gives only what comes after it', async () => {
    await append(record, 1, 1)
    const { next } = await record.read('uid-1')
    const followed = take(record.follow('uid-1', { from: next }), 1)
    await append(record, 1, 2)
    expect(await followed).toEqual([2])
  })

  test('may begin before the record does', async () => {
    const clock = createManualClock()
    let ended = false
    const followed = take(reopened({ clock }).follow('uid-1'), 2).finally(() => {
      ended = true
    })
    await append(record, 1, 1)
    await append(record, 1, 2)
    // Nothing was there to be watched: only the poll can have seen it.
    while (!ended) await clock.advance(1_000)
    expect(await followed).toEqual([1, 2])
    expect(clock.pendingTimers).toBe(0)
  })

  test('waits for the rest of a line that is being written', async () => {
    await append(record, 1, 1)
    const line = '{"epoch":1,"at_ms":5,"kind":"n","n":2}\n'
    const followed = take(record.follow('uid-1'), 2)
    for (const byte of line) {
      appendFileSync(lastSegment(), byte)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await followed).toEqual([1, 2])
  })

  test('ends at the abort, leaving no timer', async () => {
    const clock = createManualClock()
    const stop = new AbortController()
    await append(record, 1, 1)
    const taken: unknown[] = []
    for await (const item of reopened({ clock }).follow('uid-1', { signal: stop.signal })) {
      taken.push(item.kind)
      setImmediate(() => stop.abort())
    }
    expect(taken).toEqual(['line'])
    expect(clock.pendingTimers).toBe(0)
    for await (const item of record.follow('uid-1', { signal: stop.signal })) taken.push(item)
    expect(taken.length).toBe(1)
  })

  test('a long record by a slow reader holds a chunk of it, not all', async () => {
    const text = 'x'.repeat(60_000)
    for (let n = 0; n < 1_000; n++)
      await record.append('uid-1', { epoch: 1, events: [{ kind: 'n', n, text }] })
    let most = 0
    let count = 0
    const before = process.memoryUsage()
    for await (const item of record.follow('uid-1')) {
      count += 1
      if (count % 100 === 0) {
        const now = process.memoryUsage()
        most = Math.max(most, now.arrayBuffers - before.arrayBuffers)
        await new Promise((resolve) => setImmediate(resolve))
      }
      if (item.kind === 'line' && item.event.n === 999) break
    }
    expect(count).toBe(1_000)
    expect(most).toBeLessThan(20_000_000)
  })
})
