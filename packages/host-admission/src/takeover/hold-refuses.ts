/**
 * What a hold file says: after a hand-over an agent is kept for its successor for 30 s, so that a supervisor that restarts
 * the old holder does not win it back. Pure. Whatever does not say so beyond doubt, here and now, refuses nobody.
 */
import type { HostIdentity, InstanceIdentity } from '@agentmux/lease-model'

/** In the words of the file. */
export interface HandoverHold {
  /** Until when, on the clock that counts from boot, milliseconds. */
  readonly until_boot_ms: number
  /** The boot that this clock belongs to. */
  readonly host_boot_id: string
  readonly to_channel: string
  readonly to_version: string
  /** The successor's owner id; empty where only its channel and version are known. */
  readonly to_boot_id: string
  /** Of one that a take-over has made for itself: which, so that nobody else takes it down. */
  readonly reservation?: string
}

export interface HoldRefusal {
  readonly untilBootMs: number
  readonly toChannel: string
  readonly toVersion: string
}

/** A hold that counts now. */
export interface LiveHold extends HoldRefusal {
  /** Whether whoever asks is the successor, or may be it: its owner id is empty where the hold names no owner. */
  readonly forReader: boolean
  readonly toBootId: string
}

export interface HoldReader {
  readonly host: Pick<HostIdentity, 'hostBootId'>
  readonly bootMs: number
  /** Who asks for the agent. */
  readonly instance: Pick<InstanceIdentity, 'ownerBootId' | 'channel' | 'version'>
}

/** For how long an agent is kept. */
export const HOLD_MS = 30_000
/** Two processes may read the boot clock this far apart and still mean the same moment. */
const BOOT_CLOCK_SLACK_MS = 50
const MAX_TEXT = 1_024
/** So many at once have asked for an agent; more are not remembered. */
const MAX_BEFORE = 8

/**
 * For whom the agent is kept, by the text of its hold file. Undefined if for nobody: the file is damaged, of another
 * boot, expired or further ahead than any hold.
 */
export function liveHold(holdFileText: string, { host, bootMs, instance }: HoldReader): LiveHold | undefined {
  const hold = parseHold(holdFileText)
  if (hold === undefined || !counts(hold, { host, bootMs })) return undefined
  return {
    untilBootMs: hold.until_boot_ms,
    toChannel: hold.to_channel,
    toVersion: hold.to_version,
    toBootId: hold.to_boot_id,
    forReader: isSuccessor(hold, instance)
  }
}

/** Whether the agent is kept for somebody else; undefined if it is kept for nobody, or for the one who asks. */
export function holdRefuses(holdFileText: string, reader: HoldReader): HoldRefusal | undefined {
  const hold = liveHold(holdFileText, reader)
  if (hold === undefined || hold.forReader) return undefined
  const { untilBootMs, toChannel, toVersion } = hold
  return { untilBootMs, toChannel, toVersion }
}

/**
 * The hold that counts and, after it, those that it was placed above and that stand again where it is taken down: only
 * what counts now.
 */
export function liveHolds(holdFileText: string, reader: Omit<HoldReader, 'instance'>): HandoverHold[] {
  const value = jsonOf(holdFileText)
  const before = Array.isArray(value?.before) ? value.before.slice(0, MAX_BEFORE) : []
  return [value, ...before]
    .map(holdIn)
    .filter((hold) => hold !== undefined)
    .filter((hold) => counts(hold, reader))
}

/** The first counts: `liveHolds` reads them back. */
export function formatHolds([first, ...before]: readonly [HandoverHold, ...HandoverHold[]]): string {
  const kept = before.slice(0, MAX_BEFORE)
  return `${JSON.stringify(kept.length === 0 ? first : { ...first, before: kept }, undefined, 2)}\n`
}

/** Undefined if it is damaged. */
export function parseHold(holdFileText: string): HandoverHold | undefined {
  return holdIn(jsonOf(holdFileText))
}

export function formatHold(hold: HandoverHold): string {
  return formatHolds([hold])
}

/** Of this boot, not expired, and no further ahead than any hold. */
function counts(hold: HandoverHold, { host, bootMs }: Omit<HoldReader, 'instance'>): boolean {
  const remainingMs = hold.until_boot_ms - bootMs
  return (
    hold.host_boot_id === host.hostBootId && remainingMs > 0 && remainingMs <= HOLD_MS + BOOT_CLOCK_SLACK_MS
  )
}

type Json = Readonly<Record<string, unknown>>

function jsonOf(text: string): Json | undefined {
  try {
    return objectIn(JSON.parse(text))
  } catch {
    return undefined
  }
}

function objectIn(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null ? (value as Json) : undefined
}

function holdIn(value: unknown): HandoverHold | undefined {
  const from = objectIn(value)
  if (from === undefined) return undefined
  const { until_boot_ms, host_boot_id, to_channel, to_version, reservation } = from
  const to_boot_id = from.to_boot_id ?? ''
  if (typeof until_boot_ms !== 'number' || !Number.isSafeInteger(until_boot_ms)) return undefined
  if (!isText(host_boot_id) || !isText(to_channel) || !isText(to_version) || !isText(to_boot_id)) {
    return undefined
  }
  const hold = { until_boot_ms, host_boot_id, to_channel, to_version, to_boot_id }
  return isText(reservation) ? { ...hold, reservation } : hold
}

function isSuccessor(hold: HandoverHold, instance: HoldReader['instance']): boolean {
  if (hold.to_boot_id !== '') return hold.to_boot_id === instance.ownerBootId
  return hold.to_channel === instance.channel && hold.to_version === instance.version
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT
}
