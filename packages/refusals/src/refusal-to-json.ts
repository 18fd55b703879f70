/** Writes a refusal for another process or host: compact JSON that parseRefusal reads back to an equal value. */
import { parseRefusal } from './parse-refusal.js'
import type { Refusal } from './refusal.js'

/**
 * One line of JSON with the keys of Refusal and no others.
 *
 * @throws TypeError if `refusal` is none by parseRefusal's rules, so that nothing unreadable is ever sent.
 */
export function refusalToJson(refusal: Refusal): string {
  const checked = parseRefusal(refusal)
  if (checked === undefined) throw new TypeError('not a refusal: build it with one of the …Refusal functions')
  return JSON.stringify(checked)
}
