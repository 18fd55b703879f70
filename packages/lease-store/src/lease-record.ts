/**
 * The lease file: its fields, how it is read and how it is written. The names, their order and the layout are
 * shared with every AgentMux build; unknown keys are kept.
 */
import type { Holder } from '@agentmux/lease-model'
import * as z from 'zod/mini'

/** What a caller may put into a text field; a file may say more, up to the limit of a file. */
export const MAX_TEXT_CHARACTERS = 1_024

const text = z._default(z.string(), '')
/** A whole number from 0 to 2^53-1; above that is damage. */
const whole = z.int().check(z.nonnegative())
const wholeOrZero = z._default(whole, 0)
const pid = z.int().check(z.nonnegative(), z.maximum(2 ** 32 - 1))

const schema = z.looseObject({
  instance_id: z.string(),
  owner_boot_id: z.string(),
  block_id: text,
  session_id: z.optional(z.nullable(z.string())),
  pid,
  acquired_at_ms: z.int(),
  renewed_at_ms: z.int(),
  epoch: wholeOrZero,
  hostname: text,
  pid_start_s: wholeOrZero,
  channel: text,
  version: text,
  claim_id: text,
  host_boot_id: text,
  pid_ns: wholeOrZero,
  time_ns: wholeOrZero,
  pid_start_ticks: wholeOrZero,
  renewed_boot_ms: wholeOrZero,
  ttl_ms: wholeOrZero,
  driver_pid: z._default(pid, 0),
  driver_start_ticks: wholeOrZero,
  /** The owner's pid as `pid_ns` counts; written only where `pid` is 0 lest it mislead older builds. */
  pid_in_ns: z.optional(pid)
})

/** A lease file that could be read. Fields an older build does not write are empty or 0. */
export type LeaseRecord = Readonly<z.infer<typeof schema>>

const NOT_ASCII = /[\u0080-\uffff]/
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads a lease file's text, one character per byte. Undefined if it is damaged, or is the lease of another key.
 */
export function parseRecord(key: string, fileText: string): LeaseRecord | undefined {
  let value: unknown
  try {
    value = JSON.parse(NOT_ASCII.test(fileText) ? utf8.decode(Buffer.from(fileText, 'latin1')) : fileText)
  } catch {
    return undefined
  }
  const result = z.safeParse(schema, value)
  if (!result.success || result.data.instance_id !== key) return undefined
  return result.data
}

/** The text of a lease file: two-space indent, the record's own key order, one newline at the end. */
export function formatRecord(record: LeaseRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`
}

/**
 * The same text made `bytes` long with spaces before the final newline, so that a renewal can overwrite the file
 * in one write. Undefined if it does not fit.
 */
export function formatToLength(record: LeaseRecord, bytes: number): Buffer | undefined {
  const json = JSON.stringify(record, undefined, 2)
  const length = Buffer.byteLength(json)
  if (length + 1 > bytes) return undefined
  return Buffer.from(`${json}${' '.repeat(bytes - 1 - length)}\n`)
}

/** The owner's pid in its own pid namespace; 0 if unknown. */
export function ownerPid(record: LeaseRecord): number {
  return record.pid || (record.pid_in_ns ?? 0)
}

/** The record as a refused person or program sees it. */
export function holderOf(record: LeaseRecord, sameHost: boolean): Holder {
  return {
    place: sameHost ? 'this-host' : 'lan',
    hostname: record.hostname,
    channel: record.channel,
    version: record.version,
    pid: ownerPid(record),
    acquiredAtMs: record.acquired_at_ms,
    epoch: record.epoch,
    blockId: record.block_id
  }
}
