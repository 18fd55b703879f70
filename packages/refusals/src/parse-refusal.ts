/**
 * Reads a refusal that another process or host sent. Keeps true that what comes out has the types it promises, is safe
 * to print, and carries the marker of its kind and no other; whatever does not fit is no refusal at all.
 */
import {
  agentField,
  count,
  type Fields,
  fields,
  holderField,
  list,
  oneOf,
  optional,
  text,
  WrongShape
} from './field.js'
import { LOSS_REASONS } from './loss-reason.js'
import { HELD_MARKER, LOST_MARKER, type RefusalMarker, TAKEN_OVER_MARKER } from './markers.js'
import { withOnlyMarker } from './only-marker.js'
import { LENGTHS } from './plain-data.js'
import { MAX_PROCESSES, type Refusal, type RefusalKind } from './refusal.js'
import { REMAINS_BECAUSE } from './remaining-process.js'
import { UNKNOWN_REASONS } from './unknown-message.js'

const KINDS: readonly RefusalKind[] = [
  'held',
  'taken-over',
  'lost',
  'unknown',
  'io',
  'processes-remain',
  'wait-ran-out'
]
/** Longer texts are not looked at. */
const MAX_JSON_LENGTH = 262_144

/**
 * The refusal in `value`: JSON text as refusalToJson writes it, or the same already parsed. Undefined if a field is
 * missing or of the wrong type, or if the message lacks the marker of its kind. Unknown keys are dropped. Never throws.
 */
export function parseRefusal(value: unknown): Refusal | undefined {
  try {
    return refusalIn(fields(typeof value === 'string' ? parsedJson(value) : value))
  } catch (error) {
    if (error instanceof WrongShape) return undefined
    throw error
  }
}

function parsedJson(json: string): unknown {
  if (json.length > MAX_JSON_LENGTH) throw new WrongShape()
  try {
    return JSON.parse(json)
  } catch {
    throw new WrongShape()
  }
}

function refusalIn(from: Fields): Refusal {
  const kind = oneOf(from, 'kind', KINDS)
  const base = { agent: agentField(from), exitCode: exitCodeIn(from) }
  // A key that another kind owns is an unknown key here, so each kind reads only its own.
  const holder = () => optional(from, 'holder', holderField)
  const retry = () => optional(from, 'retryAfterMs', count)
  switch (kind) {
    case 'held':
      return { kind, ...base, message: messageIn(from, HELD_MARKER), holder: holderField(from), ...retry() }
    case 'taken-over':
      return { kind, ...base, message: messageIn(from, TAKEN_OVER_MARKER), ...holder(), ...retry() }
    case 'lost': {
      const reason = oneOf(from, 'reason', LOSS_REASONS)
      return { kind, ...base, message: messageIn(from, LOST_MARKER), reason, ...holder() }
    }
    case 'unknown': {
      const reason = optional(from, 'reason', (of, key) => oneOf(of, key, UNKNOWN_REASONS))
      const retryAfterMs = count(from, 'retryAfterMs')
      return { kind, ...base, message: messageIn(from), retryAfterMs, ...reason, ...holder() }
    }
    case 'io': {
      const code = optional(from, 'code', (of, key) => text(of, key, LENGTHS.code))
      const path = text(from, 'path', LENGTHS.path)
      return { kind, ...base, message: messageIn(from), path, ...code, ...retry() }
    }
    case 'processes-remain':
      return { kind, ...base, message: messageIn(from), processes: processesIn(from), ...retry() }
    case 'wait-ran-out': {
      const known = holder()
      const message = messageIn(from, known.holder ? HELD_MARKER : undefined)
      return { kind, ...base, message, waitedMs: count(from, 'waitedMs'), ...known }
    }
  }
}

function processesIn(from: Fields) {
  return list(from, 'processes', MAX_PROCESSES, (process) => ({
    pid: count(process, 'pid'),
    command: text(process, 'command', LENGTHS.command),
    because: oneOf(process, 'because', REMAINS_BECAUSE)
  }))
}

function exitCodeIn(from: Fields): number {
  const exitCode = count(from, 'exitCode')
  // 0 would tell a script that the command ran.
  if (exitCode < 1 || exitCode > 255) throw new WrongShape()
  return exitCode
}

function messageIn(from: Fields, marker?: RefusalMarker): string {
  const message = withOnlyMarker(text(from, 'message', LENGTHS.message), marker)
  if (message === '' || (marker !== undefined && !message.toLowerCase().includes(marker)))
    throw new WrongShape()
  return message
}
