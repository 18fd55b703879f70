/** The shared record among real processes: races, kill -9 in the middle of an append, writers stopped and continued. */
import { appendFileSync, existsSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { RecordItem } from '../src/record/record-line.js'
import { SharedRecord } from '../src/record/shared-record.js'
import { buildWriter, linesOf, readAll, segmentsOf, tempRoot, Writer } from './record-scene.js'
import type { WriterOrder } from './record-writer.js'

let built: Awaited<ReturnType<typeof buildWriter>>
let root: string
let record: SharedRecord
const writers: Writer[] = []

beforeAll(async () => {
  built = await buildWriter()
})

afterAll(() => built.remove())

beforeEach(() => {
  root = tempRoot()
  record = new SharedRecord(root)
})

afterEach(async () => {
  for (const writer of writers) writer.kill('SIGKILL')
  await Promise.all(writers.map((writer) => writer.exited))
  writers.length = 0
  rmSync(root, { recursive: true, force: true })
})

function start(writer: string, order: Partial<WriterOrder>, via?: readonly string[]): Writer {
  const defaults = { root, uid: 'uid-1', do: 'loop', epoch: 1, linesPerBatch: 3, lineBytes: 200 } as const
  const started = new Writer(built.program, { ...defaults, ...order, writer }, via)
  writers.push(started)
  return started
}

/** What a writer has in the record, in the order of the record. */
function numbersOf(items: readonly RecordItem[], writer: string): number[] {
  return linesOf(items).flatMap(({ event }) => (event.writer === writer ? [event.n as number] : []))
}

function epochsNeverFall(items: readonly RecordItem[]): boolean {
  const epochs = linesOf(items).map((line) => line.epoch)
  return epochs.every((epoch, index) => epoch >= (epochs[index - 1] ?? 0))
}

/** Positions join without a gap, segments included. */
function positionsJoin(items: readonly RecordItem[]): boolean {
  return items.every((item, index) => item.position === (items[index - 1]?.next ?? 0))
}

describe('two writers', () => {
  test('of one epoch lose nothing and tear nothing, across segments', async () => {
    const order = { batches: 400, segmentBytes: 20_000 }
    const both = [start('a', order), start('b', order)]
    await Promise.all(both.map((writer) => writer.exited))
    const items = await readAll(record, 'uid-1')
    for (const name of ['a', 'b']) {
      expect(numbersOf(items, name)).toEqual(Array.from({ length: 1_200 }, (_, n) => n))
    }
    expect(items.length).toBe(2_400)
    expect(positionsJoin(items)).toBe(true)
    expect(segmentsOf(record, 'uid-1').length).toBeGreaterThan(20)
  })

  test('of different epochs: the lower one is rejected as soon as the higher one has written', async () => {
    let lower = start('1', { epoch: 1, segmentBytes: 50_000 })
    for (let epoch = 2; epoch <= 5; epoch++) {
      await lower.until((writer) => writer.acknowledged.length >= 30)
      const higher = start(String(epoch), { epoch, segmentBytes: 50_000 })
      await higher.until((writer) => writer.acknowledged.length > 0)
      await lower.until((writer) => writer.rejected)
      await lower.exited
      lower = higher
    }
    await lower.finish()
    const items = await readAll(record, 'uid-1')
    expect(epochsNeverFall(items)).toBe(true)
    expect(positionsJoin(items)).toBe(true)
    for (const writer of writers) {
      const epoch = writers.indexOf(writer) + 1
      expect(numbersOf(items, String(epoch))).toEqual(writer.acknowledged)
      expect(writer.said.at(-1)).toMatch(epoch < 5 ? `rejected ${epoch + 1}` : /^ack /)
    }
    expect(record.highestEpoch('uid-1')).toBe(5)
  })

  test('starting at once: only those never outbid go on', async () => {
    const all = [3, 1, 4, 2].map((epoch) => start(String(epoch), { epoch, linesPerBatch: 1 }))
    const [, , highest] = all as [Writer, Writer, Writer, Writer]
    await Promise.all(all.map((writer) => (writer === highest ? undefined : writer.exited)))
    await highest.finish()
    const items = await readAll(record, 'uid-1')
    expect(epochsNeverFall(items)).toBe(true)
    expect(linesOf(items).length).toBe(all.flatMap((writer) => writer.acknowledged).length)
    for (const writer of all) expect(writer.rejected).toBe(writer !== highest)
  })
})

describe('a writer killed in the middle of an append', () => {
  /** Spins until the record grows: the writer is inside its write then. */
  function untilGrowing(into: SharedRecord): void {
    const size = () => segmentsOf(into, 'uid-1').reduce((sum, path) => sum + statSync(path).size, 0)
    const before = size()
    for (const end = performance.now() + 10_000; performance.now() < end && size() === before; );
  }

  test.each([
    ['on disk', tmpdir()],
    ['in memory', existsSync('/dev/shm') ? '/dev/shm' : tmpdir()]
  ])('loses nothing that was acknowledged, nor does anybody else (%s)', async (_, place) => {
    const there = tempRoot(place)
    onTestFinished(() => rmSync(there, { recursive: true, force: true }))
    const into = new SharedRecord(there)
    const rounds = 12
    const lines = 300
    for (let round = 1; round <= rounds; round++) {
      const epoch = Math.ceil(round / 2)
      const bulk = { linesPerBatch: lines, lineBytes: 3_000, segmentBytes: 4_000_000 }
      const writer = start(String(round), { root: there, epoch, ...bulk })
      const enough = 1 + Math.floor(Math.random() * 4)
      await writer.until(({ said }) => said.length >= enough)
      // Half of them at random, half while the file grows.
      if (round % 2 === 0) untilGrowing(into)
      else await new Promise((resolve) => setTimeout(resolve, Math.random() * 3))
      writer.kill('SIGKILL')
      await writer.exited
      expect(into.highestEpoch('uid-1')).toBe(epoch)
    }
    expect((await into.append('uid-1', { epoch: rounds, events: [{ kind: 'end' }] })).kind).toBe('appended')
    const items = await readAll(into, 'uid-1')
    expect(positionsJoin(items)).toBe(true)
    expect(epochsNeverFall(items)).toBe(true)
    expect(items.filter((item) => item.kind === 'damage').length).toBeLessThanOrEqual(rounds)
    for (const [index, writer] of writers.entries()) {
      const written = numbersOf(items, String(index + 1))
      // What it was writing when it died may be there in part; what it had acknowledged is, once and in order.
      expect(written).toEqual(Array.from({ length: written.length }, (_, n) => n))
      expect(written.length).toBeGreaterThanOrEqual(writer.acknowledged.length)
      expect(written.length).toBeLessThanOrEqual(writer.acknowledged.length + lines)
    }
  })

  test('leaves a lock that is free and a line that the next writer does not join', async () => {
    const writer = start('a', { do: 'hold' })
    await writer.until(({ said }) => said.includes('locked'))
    writer.kill('SIGKILL')
    await writer.exited
    await record.append('uid-1', { epoch: 1, events: [{ kind: 'n', n: 1 }] })
    appendFileSync(segmentsOf(record, 'uid-1').at(-1) as string, '{"epoch":1,"at_')
    const next = start('b', { batches: 1, linesPerBatch: 1 })
    await next.exited
    const items = await readAll(record, 'uid-1')
    expect(items.map((item) => (item.kind === 'line' ? item.event.n : item.why))).toEqual([
      1,
      'unreadable',
      0
    ])
  })
})

describe('a writer that was stopped', () => {
  test('and is continued after a newer epoch has written is rejected', async () => {
    const old = start('old', { do: 'told', epoch: 1 })
    await old.until(({ said }) => said.includes('ready'))
    old.tell('append')
    await old.until((writer) => writer.acknowledged.length === 3)
    old.kill('SIGSTOP')
    old.tell('append')
    await record.append('uid-1', { epoch: 2, events: [{ kind: 'n', writer: 'new', n: 0 }] })
    old.kill('SIGCONT')
    await old.until((writer) => writer.rejected)
    const items = await readAll(record, 'uid-1')
    expect(numbersOf(items, 'old')).toEqual([0, 1, 2])
    expect(linesOf(items).at(-1)?.event.writer).toBe('new')
  })

  test('anywhere in its work, at random, never writes behind a newer epoch', async () => {
    for (let round = 0; round < 8; round++) {
      const uid = `uid-${round}`
      const old = start(`old-${round}`, { uid, epoch: 1, linesPerBatch: 50, lineBytes: 2_000 })
      await old.until((writer) => writer.acknowledged.length > round * 50)
      const patient = new SharedRecord(root, { lockWaitMs: 100 })
      for (let done = false; !done; ) {
        old.kill('SIGSTOP')
        try {
          const result = await patient.append(uid, { epoch: 2, events: [{ kind: 'n', writer: 'new', n: 0 }] })
          done = result.kind === 'appended'
        } catch (fault) {
          // It was stopped with the lock in its hand: nobody can write, and the fault says who is in the way.
          expect(fault).toMatchObject({ code: 'lock-timeout' })
          expect(String(fault)).toContain(`pid ${old.pid} (`)
        }
        old.kill('SIGCONT')
      }
      await old.until((writer) => writer.rejected)
      const items = await readAll(record, uid)
      expect(epochsNeverFall(items)).toBe(true)
      expect(linesOf(items).at(-1)?.event.writer).toBe('new')
      expect(numbersOf(items, `old-${round}`)).toEqual(old.acknowledged)
    }
  })
})

describe('the lock', () => {
  test('that stays taken ends an append in a fault that names who has it; nothing is written', async () => {
    const holder = start('a', { do: 'hold' })
    await holder.until(({ said }) => said.includes('locked'))
    const hasty = new SharedRecord(root, { lockWaitMs: 50 })
    const append = (n: number) => hasty.append('uid-1', { epoch: 1, events: [{ kind: 'n', n }] })
    const faults = await Promise.allSettled([append(1), append(2), append(3)])
    for (const fault of faults) {
      expect(fault).toMatchObject({
        status: 'rejected',
        reason: { name: 'RecordFault', code: 'lock-timeout' }
      })
      expect(fault.status === 'rejected' && fault.reason.message).toContain(`pid ${holder.pid} (`)
    }
    // Looking is never in its way.
    expect(hasty.highestEpoch('uid-1')).toBe(1)
    expect(await readAll(hasty, 'uid-1')).toEqual([])
    await holder.finish()
    expect((await append(4)).kind).toBe('appended')
    expect(linesOf(await readAll(record, 'uid-1')).map((line) => line.event.n)).toEqual([4])
  })

  test('is waited for no longer than the signal says, in line or at the front of it', async () => {
    const holder = start('a', { do: 'hold' })
    await holder.until(({ said }) => said.includes('locked'))
    const stop = new AbortController()
    const append = (n: number, signal?: AbortSignal) =>
      record.append('uid-1', { epoch: 1, events: [{ kind: 'n', n }], ...(signal && { signal }) })
    const front = append(1, stop.signal)
    const line = append(2, stop.signal)
    const patient = append(3)
    stop.abort('enough')
    await expect(line).rejects.toBe('enough')
    await expect(front).rejects.toBe('enough')
    await holder.finish()
    await patient
    expect(linesOf(await readAll(record, 'uid-1')).map((line) => line.event.n)).toEqual([3])
  })

  test('is waited for in the order of the calls', async () => {
    const holder = start('a', { do: 'hold' })
    await holder.until(({ said }) => said.includes('locked'))
    const order = Array.from({ length: 50 }, (_, n) => n)
    const append = (n: number) => record.append('uid-1', { epoch: 1, events: [{ kind: 'n', n }] })
    const appends = order.slice(0, 25).map(append)
    // Long enough for these to be between two tries when the others come, who would try at once.
    await new Promise((resolve) => setTimeout(resolve, 30))
    const finished = holder.finish()
    appends.push(...order.slice(25).map(append))
    await finished
    await Promise.all(appends)
    expect(linesOf(await readAll(record, 'uid-1')).map((line) => line.event.n)).toEqual(order)
  })

  test('is one file for ever', async () => {
    await record.append('uid-1', { epoch: 1, events: [] })
    const lock = `${record.pathOf('uid-1')}/lock`
    const { ino } = statSync(lock)
    await Promise.all(
      [1, 2].map((epoch) => start(String(epoch), { epoch, batches: 50, segmentBytes: 5_000 }).exited)
    )
    expect(statSync(lock)).toMatchObject({ ino, size: 0 })
  })
})

test('a follower sees every line of every writer once, in order, across segments', async () => {
  const stop = new AbortController()
  const seen: RecordItem[] = []
  const order = { batches: 300, segmentBytes: 30_000 }
  const all = [start('a', order), start('b', order)]
  for await (const item of record.follow('uid-1', { signal: stop.signal })) {
    seen.push(item)
    if (seen.length === 1_800) stop.abort()
  }
  await Promise.all(all.map((writer) => writer.exited))
  expect(seen).toEqual(await readAll(record, 'uid-1'))
})
