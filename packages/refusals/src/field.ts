/**
 * Reads single fields of something that came from elsewhere. Each either gives a value of the promised type, in the form
 * that is safe to keep and print, or throws WrongShape, which only parseRefusal catches. Only own properties count.
 */
import type { AgentRef, Holder, Place } from '@agentmux/lease-model'
import { LENGTHS, plainAgent, plainHolder } from './plain-data.js'
import { plainText } from './plain-text.js'

export class WrongShape extends Error {}

export type Fields = Readonly<Record<string, unknown>>

const PLACES: readonly Place[] = ['this-host', 'lan', 'relay']
const MAX_UID_LENGTH = 1_024

export function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new WrongShape()
  return value as Fields
}

function own(from: Fields, key: string): unknown {
  return Object.hasOwn(from, key) ? from[key] : undefined
}

export function text(from: Fields, key: string, maxLength: number): string {
  const value = own(from, key)
  if (typeof value !== 'string') throw new WrongShape()
  return plainText(value, maxLength)
}

/** A whole number from 0 on that doubles hold exactly. */
export function count(from: Fields, key: string): number {
  const value = own(from, key)
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new WrongShape()
  // Adding 0 makes a minus zero an ordinary one.
  return (value as number) + 0
}

export function oneOf<const T extends string>(from: Fields, key: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === own(from, key))
  if (found === undefined) throw new WrongShape()
  return found
}

/** The items of an array; more than `maxLength` are not read. */
export function list<T>(from: Fields, key: string, maxLength: number, read: (item: Fields) => T): T[] {
  const value = own(from, key)
  if (!Array.isArray(value)) throw new WrongShape()
  return value.slice(0, maxLength).map((item) => read(fields(item)))
}

/** `{key: value}`, or nothing at all where the field is absent. */
export function optional<K extends string, T>(
  from: Fields,
  key: K,
  read: (from: Fields, key: K) => T
): { [P in K]?: T } {
  if (own(from, key) === undefined) return {}
  return { [key]: read(from, key) } as { [P in K]?: T }
}

export function agentField(from: Fields): AgentRef {
  const agent = fields(own(from, 'agent'))
  const uid = own(agent, 'uid')
  if (typeof uid !== 'string' || uid === '' || uid.length > MAX_UID_LENGTH) throw new WrongShape()
  // A UID is kept as it is or not at all: cleaned, it would be another agent.
  if (/[\p{Cc}\p{Cs}]/u.test(uid)) throw new WrongShape()
  return plainAgent({ uid, ...optional(agent, 'name', (of, key) => text(of, key, LENGTHS.name)) })
}

export function holderField(from: Fields, key = 'holder'): Holder {
  const holder = fields(own(from, key))
  return plainHolder({
    place: oneOf(holder, 'place', PLACES),
    hostname: text(holder, 'hostname', LENGTHS.hostname),
    channel: text(holder, 'channel', LENGTHS.channel),
    version: text(holder, 'version', LENGTHS.version),
    pid: count(holder, 'pid'),
    acquiredAtMs: count(holder, 'acquiredAtMs'),
    epoch: count(holder, 'epoch'),
    blockId: text(holder, 'blockId', LENGTHS.blockId)
  })
}
