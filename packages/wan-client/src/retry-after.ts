/** How long a relay asks to be left alone. Its word is bounded: it cannot silence us for longer than MAX_PAUSE_MS. */

export const MAX_PAUSE_MS = 120_000

/** Milliseconds from now; undefined if the header is absent or says nothing. Seconds or an HTTP date. */
export function retryAfterMs(header: string | undefined, nowWallMs: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text) * 1_000, MAX_PAUSE_MS)
  // Only the date of RFC 9110: Date.parse takes a bare number and much else for a date.
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined
  const atMs = Date.parse(text)
  if (Number.isNaN(atMs)) return undefined
  return Math.min(Math.max(0, atMs - nowWallMs), MAX_PAUSE_MS)
}
