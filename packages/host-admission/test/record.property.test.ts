/** The shared record against a model: any sequence of writers, crashes, damage and readers. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeBatch, MAX_LINE_BYTES } from '../src/record/record-line.js'
import { SharedRecord } from '../src/record/shared-record.js'
import { contents, linesOf, readAll, segmentsOf, tempRoot } from './record-scene.js'

type Step =
  /** `epoch`: relative to the highest so far. `writer`: which of three processes' worth of memory. */
  | { do: 'append'; writer: number; epoch: number; lines: number; bytes: number }
  | { do: 'restart'; writer: number }
  /** A writer died when this share of a batch was written. */
  | { do: 'crash'; share: number; bytes: number }
  | { do: 'sidecar'; damage: 'gone' | 'noise' | 'lower' }
  | { do: 'noise'; bytes: number }
  | { do: 'look'; from: number; limit: number }

const bytes = fc.oneof(fc.nat(50), fc.nat(3_000), fc.constantFrom(0, 60_000))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      writer: fc.nat(2),
      epoch: fc.integer({ min: -2, max: 2 }),
      lines: fc.nat(4),
      bytes
    })
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), writer: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('sidecar' as const),
      damage: fc.constantFrom('gone' as const, 'noise' as const, 'lower' as const)
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('noise' as const),
      bytes: fc.constantFrom(1, 700, 3 * MAX_LINE_BYTES)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('look' as const),
      from: fc.nat(),
      limit: fc.integer({ min: 1, max: 9 })
    })
  }
)

/** What must be true of a record, whatever was done to it. */
class Model {
  readonly lines: { n: number; epoch: number }[] = []
  /** The epoch in the small file; 0 while it is damaged. */
  counter = 0
  n = 0

  get highest(): number {
    return Math.max(this.counter, this.lines.at(-1)?.epoch ?? 0)
  }

  next(count: number, length: number) {
    return Array.from({ length: count }, () => ({ kind: 'n', n: this.n++, text: 'x'.repeat(length) }))
  }

  wrote(events: readonly { n: number }[], epoch: number): void {
    for (const { n } of events) this.lines.push({ n, epoch })
    this.counter = Math.max(this.counter, epoch)
  }
}

async function run(root: string, segmentBytes: number, steps: readonly Step[]): Promise<void> {
  const open = () => new SharedRecord(root, { segmentBytes })
  const writers = [open(), open(), open()]
  const model = new Model()
  const uid = 'uid-1'
  const writerOf = (index: number) => writers[index] as SharedRecord
  const lastSegment = () =>
    model.counter === 0 && model.n === 0 ? undefined : segmentsOf(writerOf(0), uid).at(-1)

  for (const at of steps) {
    switch (at.do) {
      case 'append': {
        const epoch = Math.max(1, model.highest + at.epoch)
        const events = model.next(at.lines, at.bytes)
        const result = await writerOf(at.writer).append(uid, { epoch, events })
        if (epoch < model.highest) {
          expect(result).toEqual({ kind: 'rejected', highestEpoch: model.highest })
        } else {
          expect(result.kind).toBe('appended')
          model.wrote(events, epoch)
        }
        break
      }
      case 'restart':
        writers[at.writer] = open()
        break
      case 'crash': {
        // As the writer of the highest epoch leaves it: some whole lines, then a piece of one.
        const path = lastSegment()
        if (path === undefined || model.highest === 0) break
        const events = model.next(3, at.bytes)
        const batch = encodeBatch(events, model.highest, 5)
        let written = Math.floor(at.share * (batch.bytes.length - 1))
        // A line without its newline alone may count or not: nobody was told that it was written.
        if (batch.lineEnds.includes(written + 1)) written -= 1
        // On a new line, as the writer that dies begins.
        await writerOf(2).append(uid, { epoch: model.highest, events: [] })
        model.wrote([], model.highest)
        appendFileSync(segmentsOf(writerOf(0), uid).at(-1) as string, batch.bytes.subarray(0, written))
        const whole = batch.lineEnds.filter((end) => end <= written).length
        model.wrote(events.slice(0, whole), model.highest)
        await writerOf(1).append(uid, { epoch: model.highest, events: [] })
        break
      }
      case 'sidecar': {
        if (lastSegment() === undefined) break
        const path = join(writerOf(0).pathOf(uid), 'epoch')
        if (at.damage === 'gone') rmSync(path, { force: true })
        if (at.damage === 'noise') writeFileSync(path, '\0\0')
        if (at.damage === 'lower') writeFileSync(path, '1\n')
        model.counter = at.damage === 'lower' ? 1 : 0
        break
      }
      case 'noise': {
        const path = lastSegment()
        if (path !== undefined) appendFileSync(path, Buffer.alloc(at.bytes, '~'))
        break
      }
      case 'look': {
        const all = await readAll(writerOf(0), uid)
        const from = all.length === 0 ? 0 : at.from % ((all.at(-1)?.next ?? 0) + 2)
        const { items } = await writerOf(1).read(uid, { from, limit: at.limit })
        expect(items).toEqual(all.filter((item) => item.position >= from).slice(0, items.length))
        expect(items.length).toBeLessThanOrEqual(at.limit)
        break
      }
    }
    expect(open().highestEpoch(uid)).toBe(model.highest)
  }

  const before = contents(root)
  const items = await readAll(open(), uid)
  expect(linesOf(items).map(({ epoch, event }) => ({ n: event.n, epoch }))).toEqual(model.lines)
  expect(items.every((item, index) => item.position === (items[index - 1]?.next ?? 0))).toBe(true)
  expect(contents(root)).toEqual(before)
}

test('nothing acknowledged is lost, no epoch falls, and readers see it all, whatever happens in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(1, 300, 5_000, 200_000),
      fc.array(step, { maxLength: 40 }),
      async (segmentBytes, steps) => {
        const root = tempRoot()
        try {
          await run(root, segmentBytes, steps)
        } finally {
          rmSync(root, { recursive: true, force: true })
        }
      }
    ),
    { numRuns: 120 }
  )
})
