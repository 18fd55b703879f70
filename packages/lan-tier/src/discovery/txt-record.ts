/** The TXT record's `key=value` strings, both ways. Unknown keys, repeated keys and oversized strings are left out. */
const MAX_STRING_BYTES = 255
const MAX_STRINGS = 64

/** The keys of the protocol. */
export interface TxtValues {
  readonly version: string
  readonly hostname: string
  readonly instance_id: string
  readonly auth_key: string
  readonly channel: string
}

const KEYS = ['version', 'hostname', 'instance_id', 'auth_key', 'channel'] as const

export function encodeTxt(values: TxtValues): Buffer[] {
  return KEYS.map((key) => Buffer.from(`${key}=${values[key]}`)).filter(
    ({ byteLength }) => byteLength <= MAX_STRING_BYTES
  )
}

/** The first value of each key counts; empty ones are left out, for they say nothing. */
export function decodeTxt(data: unknown): Partial<TxtValues> {
  const strings: unknown[] = Array.isArray(data) ? data.slice(0, MAX_STRINGS) : [data]
  const values: { -readonly [K in keyof TxtValues]?: string } = {}
  for (const string of strings) {
    if (!Buffer.isBuffer(string)) continue
    const text = string.toString('utf8')
    const at = text.indexOf('=')
    const key = KEYS.find((known) => known === text.slice(0, Math.max(0, at)).toLowerCase())
    if (key && values[key] === undefined && at + 1 < text.length) values[key] = text.slice(at + 1)
  }
  return values
}
