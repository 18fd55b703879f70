/**
 * A JSON text that has to be an object: what it says, or what is wrong with it in a few words. Keeps true that nothing
 * is read from it in two ways, and that the words never repeat the text: it may hold a secret.
 */

export type JsonObject =
  | { readonly kind: 'object'; readonly value: Readonly<Record<string, unknown>> }
  /** `error`: for the answer. */
  | { readonly kind: 'wrong'; readonly error: string }

/** Names that code somewhere may take for the prototype of an object. */
const RISKY = /__proto__|constructor|\\u/
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

export function readJsonObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return wrong('the body is not JSON')
  }
  if (!isObject(value)) return wrong(`the body must be an object, not ${kindOf(value)}`)
  const risky = RISKY.test(text) ? riskyName(value) : undefined
  if (risky !== undefined) return wrong(`the body must not have a field ${risky}`)
  const repeated = repeatedField(text)
  if (repeated !== undefined) return wrong(`field ${repeated} of the body repeats one before it`)
  return { kind: 'object', value }
}

function wrong(error: string): JsonObject {
  return { kind: 'wrong', error }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}

/** At any depth, which the caller chooses: no recursion. */
function riskyName(value: object): string | undefined {
  const left: object[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (Object.hasOwn(next, '__proto__')) return '__proto__'
    for (const [name, inside] of Object.entries(next)) {
      if (typeof inside !== 'object' || inside === null) continue
      if (name === 'constructor' && Object.hasOwn(inside, 'prototype')) return 'constructor.prototype'
      left.push(inside)
    }
  }
  return undefined
}

/** Which of the object's own fields has the name of an earlier one, counted from 1. The text is known to be JSON. */
function repeatedField(text: string): number | undefined {
  const names = new Set<string>()
  let depth = 0
  let atName = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === OPEN_OBJECT || character === OPEN_LIST) atName = ++depth === 1
    else if (character === CLOSE_OBJECT || character === CLOSE_LIST) depth--
    else if (character === COMMA) atName = depth === 1
    else if (character === COLON) atName = false
    else if (character === QUOTE) {
      const end = endOfString(text, at)
      if (atName) {
        const before = names.size
        names.add(JSON.parse(text.slice(at, end + 1)))
        if (names.size === before) return before + 1
      }
      at = end
    }
  }
  return undefined
}

/** Where the string that begins there has its closing quote: one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
}
