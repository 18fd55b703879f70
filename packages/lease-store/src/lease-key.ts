/**
 * Which strings can be a lease key. The key is the agent's UID itself, used as a file name, so whatever could
 * leave the folder, share a file with another key on some system, or pass for another key is refused here.
 */

/** Leaves room in a 255-byte file name for the longest suffix, `.lease.json.tmp`. */
const MAX_KEY_BYTES = 200
/** Reserved in file names on Windows, or a path separator somewhere. */
const FORBIDDEN = '/\\<>:"|?*'
const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³]) *(\.|$)/i
/** Line separators, and format characters, which some file systems ignore and no reader sees. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}]/u

/**
 * Checks a UID and returns it as a key.
 *
 * @throws TypeError if it is not a string; RangeError, naming the reason, if it cannot be a key.
 */
export function leaseKey(uid: string): string {
  if (typeof uid !== 'string') throw new TypeError(`an agent UID must be a string, not ${typeof uid}`)
  const problem = keyProblem(uid)
  if (problem !== undefined) {
    throw new RangeError(`${quoted(uid)} cannot be an agent UID: ${problem}`)
  }
  return uid
}

/** Why a string cannot be a key; undefined if it can. */
function keyProblem(uid: string): string | undefined {
  if (uid === '') return 'it is empty'
  const bytes = Buffer.byteLength(uid)
  if (bytes > MAX_KEY_BYTES) return `it is ${bytes} bytes long, the limit is ${MAX_KEY_BYTES}`
  for (const character of uid) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
      return `it contains the control character ${named(code)}`
    if (code >= 0xd800 && code <= 0xdfff) return 'it contains half a surrogate pair'
    if (INVISIBLE.test(character)) return `it contains the invisible character ${named(code)}`
    if (FORBIDDEN.includes(character)) return `it contains "${character}"`
  }
  if (uid.startsWith('.')) return 'it begins with a dot'
  if (uid.endsWith('.')) return 'it ends with a dot'
  if (uid !== uid.trim()) return 'it begins or ends with white space'
  if (uid !== uid.normalize('NFC')) return 'it is not in Unicode normal form C'
  if (WINDOWS_DEVICE.test(uid)) return 'Windows reserves that name for a device'
  return undefined
}

/** Two keys with the same folded form may not both exist: some file systems could not tell them apart. */
export function foldedKey(key: string): string {
  // Lower case first: upper case alone would keep `ẞ` and `ß` apart.
  return key.toLowerCase().toUpperCase()
}

/** A UID for an error message: short, on one line, nothing a terminal would act on. */
function quoted(uid: string): string {
  const shown = uid.length > 60 ? `${uid.slice(0, 60)}…` : uid
  const harmless = shown.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (one) => `<${named(one.codePointAt(0) ?? 0)}>`
  )
  return JSON.stringify(harmless)
}

function named(code: number): string {
  return `U+${code.toString(16).padStart(4, '0').toUpperCase()}`
}
