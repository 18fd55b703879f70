/** The file name that an agent or a channel has in the reactive registry, the same in every build. */

/** `<stem>.json.tmp` must fit into the 255 bytes of a file name. */
const MAX_STEM_BYTES = 240

/**
 * Lower-case; letters, digits, `-` and `_` stay; every other character, a whole code point, becomes `_`. So it never
 * leaves a folder. Too long a name is cut and an empty one becomes `_`: no build could use those as they are.
 */
export function stem(name: string): string {
  let stemmed = ''
  let bytes = 0
  for (const character of name.toLowerCase()) {
    const kept = /^[\p{Alphabetic}\p{N}_-]$/u.test(character) ? character : '_'
    bytes += Buffer.byteLength(kept)
    if (bytes > MAX_STEM_BYTES) break
    stemmed += kept
  }
  return stemmed || '_'
}
