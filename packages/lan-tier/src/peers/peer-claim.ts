/**
 * What somebody on the network says about an instance, checked: within the limits, without control characters, with a
 * port that a daemon may have. Anything else is no claim. Nothing in a claim is proven.
 */

/** One claim, as it came in from one sender. */
export interface PeerClaim {
  readonly instanceId: string
  readonly hostname: string
  readonly version: string
  readonly channel: string
  readonly authKey: string
  readonly port: number
}

/** Longest values accepted, in bytes. */
export const FIELD_LIMITS = {
  instanceId: 128,
  hostname: 253,
  version: 64,
  channel: 64,
  authKey: 256
} as const

const MIN_PORT = 1_024
const MAX_PORT = 65_535
/** Control characters, line ends and what turns text around: none may reach a header, a log or a terminal. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/u
/** The key goes into a header. */
const HEADER_SAFE = /^[\x21-\x7e]*$/

type Field = keyof typeof FIELD_LIMITS

function isAcceptable(field: Field, value: unknown): value is string {
  if (typeof value !== 'string' || Buffer.byteLength(value) > FIELD_LIMITS[field]) return false
  return field === 'authKey' ? HEADER_SAFE.test(value) : !UNPRINTABLE.test(value)
}

/** Missing values become empty ones; without an instance id or a port there is nobody to ask. */
export function acceptClaim(said: Partial<Record<Field | 'port', unknown>>): PeerClaim | undefined {
  const { port } = said
  if (typeof port !== 'number' || !Number.isInteger(port) || port < MIN_PORT || port > MAX_PORT) {
    return undefined
  }
  const fields = { instanceId: '', hostname: '', version: '', channel: '', authKey: '' }
  for (const field of Object.keys(fields) as Field[]) {
    const value = said[field] ?? ''
    if (!isAcceptable(field, value)) return undefined
    fields[field] = value
  }
  return fields.instanceId === '' ? undefined : { ...fields, port }
}
