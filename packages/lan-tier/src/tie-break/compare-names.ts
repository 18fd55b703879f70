/**
 * The order of names in the tie-break: by code points, which is the order of their UTF-8 bytes. Older builds compare
 * bytes; JavaScript's own comparison is by UTF-16 units and differs beyond U+D7FF, where two sides would both win.
 */

/** Negative if `one` comes first, positive if `other` does, 0 if they are equal. Total: half surrogates have a place too. */
export function compareNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let at = 0; at < length; at++) {
    const a = one.charCodeAt(at)
    const b = other.charCodeAt(at)
    if (a !== b) return inOrderOfCodePoints(a) - inOrderOfCodePoints(b)
  }
  return one.length - other.length
}

/** Surrogates stand for code points above U+FFFF, so they are moved behind U+E000…U+FFFF. */
function inOrderOfCodePoints(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
