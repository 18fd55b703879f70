/**
 * Reads single fields of JSON that another process wrote. A field is of the promised type and within its limit, or the
 * whole is not believed: WrongShape, which only `shaped` catches. Only own properties count.
 */

export type Fields = Readonly<Record<string, unknown>>

class WrongShape extends Error {}

/** What `read` makes of a value; undefined if the value is not of the shape that `read` asks for. */
export function shaped<T>(value: unknown, read: (fields: Fields) => T): T | undefined {
  try {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return read(value as Fields)
  } catch (error) {
    if (error instanceof WrongShape) return undefined
    throw error
  }
}

/** The value a text stands for; undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function textField(from: Fields, key: string, maxLength: number): string {
  const value = own(from, key)
  if (typeof value !== 'string' || value.length > maxLength) throw new WrongShape()
  return value
}

/** Empty where the field is absent. */
export function optionalText(from: Fields, key: string, maxLength: number): string {
  return own(from, key) === undefined ? '' : textField(from, key, maxLength)
}

/** A whole number from 0 on. Beyond 2^53 it is rounded, which makes it no number of ours. */
export function wholeField(from: Fields, key: string): number {
  const value = own(from, key)
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw new WrongShape()
  return value
}

/** 0 where the field is absent. */
export function optionalWhole(from: Fields, key: string): number {
  return own(from, key) === undefined ? 0 : wholeField(from, key)
}

export function booleanField(from: Fields, key: string): boolean {
  const value = own(from, key)
  if (typeof value !== 'boolean') throw new WrongShape()
  return value
}

function own(from: Fields, key: string): unknown {
  return Object.hasOwn(from, key) ? from[key] : undefined
}
