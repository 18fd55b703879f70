/**
 * A process that writes to a record, for the tests: `node record-writer.mjs '<order as JSON>'`. It says `ack FIRST COUNT`
 * after each batch that was acknowledged, `rejected HIGHEST` and `fault CODE ERRNO LINES`, one to a line.
 */
import { readSync, rmSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { FileLock } from '@agentmux/lease-store'
import { RecordFault } from '../src/record/record-fault.js'
import { SharedRecord } from '../src/record/shared-record.js'

export interface WriterOrder {
  readonly root: string
  readonly uid: string
  /** `loop`: until rejected or the end of its input. `told`: one batch per line of input. `hold`: keeps the lock. */
  readonly do: 'loop' | 'told' | 'hold' | 'fill'
  readonly writer: string
  readonly epoch: number
  readonly linesPerBatch: number
  readonly lineBytes: number
  readonly segmentBytes?: number
  readonly batches?: number
  /** For `fill`: removed once the disk is full. */
  readonly ballast?: string
}

const order = JSON.parse(process.argv[2] ?? '') as WriterOrder
const record = new SharedRecord(order.root, {
  ...(order.segmentBytes === undefined ? {} : { segmentBytes: order.segmentBytes })
})
let number = 0

/** Synchronous, so that what was acknowledged is known outside even if we are killed right after. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}

async function appendBatch(into: SharedRecord, epoch: number): Promise<'ack' | 'rejected' | 'fault'> {
  const first = number
  const text = 'x'.repeat(order.lineBytes)
  const events = Array.from({ length: order.linesPerBatch }, (_, index) => ({
    kind: 'n',
    writer: order.writer,
    n: first + index,
    text
  }))
  number += events.length
  try {
    const result = await into.append(order.uid, { epoch, events })
    if (result.kind === 'rejected') {
      say(`rejected ${result.highestEpoch}`)
      return 'rejected'
    }
    say(`ack ${first} ${events.length}`)
    return 'ack'
  } catch (fault) {
    if (!(fault instanceof RecordFault)) throw fault
    say(`fault ${fault.code} ${fault.errno} ${fault.appendedLines}`)
    if (fault.appendedLines > 0) say(`ack ${first} ${fault.appendedLines}`)
    return 'fault'
  }
}

async function loop(): Promise<void> {
  let ended = false
  process.stdin.on('end', () => {
    ended = true
  })
  process.stdin.resume()
  for (let batch = 0; !ended && batch < (order.batches ?? Number.POSITIVE_INFINITY); batch++) {
    if ((await appendBatch(record, order.epoch)) === 'rejected') break
    // Lets the end of the input be noticed.
    await new Promise((resolve) => setImmediate(resolve))
  }
  process.exit(0)
}

async function told(): Promise<void> {
  say('ready')
  for await (const _ of createInterface({ input: process.stdin })) await appendBatch(record, order.epoch)
}

async function hold(): Promise<void> {
  await record.append(order.uid, { epoch: order.epoch, events: [] })
  const lock = `${record.pathOf(order.uid)}/lock`
  const section = () => {
    say('locked')
    readSync(0, Buffer.alloc(1))
  }
  await new FileLock().run(lock, section, { waitMs: 60_000, create: () => {} })
}

/** Until the disk is full, then what is refused meanwhile, then with room again. */
async function fill(): Promise<void> {
  while ((await appendBatch(record, order.epoch)) !== 'fault');
  say('full')
  await appendBatch(record, order.epoch + 1)
  const highest = record.highestEpoch(order.uid)
  say(`highest ${highest}`)
  if (order.ballast !== undefined) rmSync(order.ballast)
  // Without ballast the file may not grow, but another may.
  const after = order.ballast === undefined ? new SharedRecord(order.root, { segmentBytes: 1 }) : record
  await appendBatch(after, highest)
  let next = 0
  for (let atEnd = false; !atEnd; ) {
    const result = await after.read(order.uid, { from: next })
    for (const item of result.items) {
      say(item.kind === 'line' ? `line ${item.epoch} ${item.event.n}` : `damage ${item.why}`)
    }
    next = result.next
    atEnd = result.atEnd
  }
}

const acts = { loop, told, hold, fill }
await acts[order.do]()
