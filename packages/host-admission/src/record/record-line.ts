/**
 * One line of a record: `{"epoch":3,"at_ms":1700000000000,"kind":"output",…}` and a newline. Pure. A line that was cut
 * short never parses, so a torn one cannot pass for a whole one.
 */
import { LARGEST_EPOCH } from '@agentmux/lease-store'

/** Above this a line was not written here. The newline counts. */
export const MAX_LINE_BYTES = 64 * 1024
/** What one append may write: it is one write under the lock. */
export const MAX_BATCH_BYTES = 1024 * 1024
/** What happened. Anything that JSON can carry, beside the kind; `epoch` and `at_ms` are the record's own. */
export interface RecordEvent {
  readonly kind: string
  readonly [field: string]: unknown
}

export interface RecordLine {
  readonly kind: 'line'
  /** Where the line begins. Grows from line to line, across segments; not by one. */
  readonly position: number
  /** Where the next line begins: read on from here. */
  readonly next: number
  /** The epoch of the lease under which it was written. Never lower than that of a line before. */
  readonly epoch: number
  /** The writer's wall clock, for display. */
  readonly atMs: number
  readonly event: RecordEvent
}

/** A stretch that holds no line: what a crash left half written (`unreadable`), say. Nothing acknowledged is in it. */
export interface RecordDamage {
  readonly kind: 'damage'
  readonly position: number
  readonly next: number
  /** `missing`: the segment was removed, or cut short by a power loss. */
  readonly why: 'unreadable' | 'oversized' | 'missing'
}

export type RecordItem = RecordLine | RecordDamage

export interface EncodedBatch {
  readonly epoch: number
  readonly bytes: Buffer
  /** Where each line ends in `bytes`, its newline included. */
  readonly lineEnds: readonly number[]
}

/** @throws TypeError for what is not an event; RangeError for an impossible epoch, a long line or a large batch. */
export function encodeBatch(events: readonly RecordEvent[], epoch: number, atMs: number): EncodedBatch {
  if (!isEpoch(epoch)) throw new RangeError(`an epoch is a whole number from 1 to 2^52, not ${epoch}`)
  let text = ''
  let bytes = 0
  const lineEnds: number[] = []
  for (const event of events) {
    const line = encodeLine(event, epoch, atMs)
    const length = Buffer.byteLength(line)
    if (length > MAX_LINE_BYTES) {
      throw new RangeError(`an event of ${length} bytes is too long for a line (${MAX_LINE_BYTES}); split it`)
    }
    text += line
    bytes += length
    lineEnds.push(bytes)
  }
  if (bytes > MAX_BATCH_BYTES) {
    throw new RangeError(`a batch of ${bytes} bytes is too large for one append (${MAX_BATCH_BYTES})`)
  }
  return { epoch, bytes: Buffer.from(text), lineEnds }
}

function encodeLine(event: RecordEvent, epoch: number, atMs: number): string {
  const { kind, ...fields } = event
  if (typeof kind !== 'string' || kind === '') throw new TypeError('an event needs a kind')
  if ('epoch' in fields || 'at_ms' in fields) {
    throw new TypeError('epoch and at_ms of an event are set by the record')
  }
  return `${JSON.stringify({ epoch, at_ms: atMs, kind, ...fields })}\n`
}

/** What the bytes of a line, without its newline, say. */
export function parseLine(bytes: Buffer, position: number): RecordItem {
  const next = position + bytes.length + 1
  if (bytes.length >= MAX_LINE_BYTES) return { kind: 'damage', position, next, why: 'oversized' }
  const fields = parseObject(bytes)
  if (fields === undefined) return { kind: 'damage', position, next, why: 'unreadable' }
  const { epoch, at_ms: atMs, ...event } = fields
  if (!isEpoch(epoch) || !Number.isSafeInteger(atMs) || !isEvent(event)) {
    return { kind: 'damage', position, next, why: 'unreadable' }
  }
  return { kind: 'line', position, next, epoch, atMs: atMs as number, event }
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return value as Record<string, unknown>
  } catch {
    return undefined
  }
}

function isEvent(fields: Record<string, unknown>): fields is { kind: string } {
  return typeof fields.kind === 'string' && fields.kind !== ''
}

export function isEpoch(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= LARGEST_EPOCH
}
