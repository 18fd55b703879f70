/**
 * Whether a UID that another instance reported is the one we mean. Older builds registered it as it was typed, so it is
 * compared trimmed and without regard to ASCII letter case; a lease key is compared byte for byte elsewhere.
 */

export function sameUid(one: string, other: string): boolean {
  return comparableUid(one) === comparableUid(other)
}

/** The form in which two UIDs are the same exactly when `sameUid` says so. */
export function comparableUid(uid: string): string {
  return uid.trim().replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
