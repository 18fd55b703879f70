/** What the values of flags may be. Anything else is a usage error that says what is expected. */
import { InvalidArgumentError } from 'commander'
import { agentName, isAccount } from './model/agent-key.js'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** Ten years: longer means for ever, which is said by giving none. */
const MAX_DURATION_MS = 3_650 * 86_400_000

export function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('It must be a port: 0 to 65535.')
}

export function parseUrls(text: string): string[] {
  const urls = text.split(',').map((url) => url.trim())
  if (urls.every(isUrl)) return urls
  throw new InvalidArgumentError('It must be addresses like http://10.0.0.1:2379,http://10.0.0.2:2379.')
}

export function parseAccount(text: string): string {
  if (isAccount(text)) return text
  throw new InvalidArgumentError('It must be up to 64 of a-z 0-9 . _ - and begin with a letter or digit.')
}

export function parseAgent(text: string): string {
  const name = agentName(text)
  if (name !== undefined) return name
  throw new InvalidArgumentError('It must be a name of up to 256 characters.')
}

/** `90s`, `15m`, `12h`, `30d`, as milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9}(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN)
  if (ms > 0 && ms <= MAX_DURATION_MS) return Math.round(ms)
  throw new InvalidArgumentError('It must be a duration like 90s, 15m, 12h or 30d.')
}

export function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (count >= 1) return count
  throw new InvalidArgumentError('It must be a whole number from 1 on.')
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
}
