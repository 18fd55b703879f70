/** What a failed request says about a peer, in the words of a look. Whatever is not known is a broken connection. */
import type { SilentBecause } from './lan-look.js'

/** The system found no way there, or is not allowed to take it. */
const UNREACHABLE: readonly unknown[] = [
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM'
]

export function silenceOf(fault: unknown): SilentBecause {
  const code = (fault as { readonly code?: unknown } | null | undefined)?.code
  if (code === 'ECONNREFUSED') return 'refused'
  if (code === 'ETIMEDOUT') return 'timed-out'
  // The record made a request that is none.
  if (code === 'UND_ERR_INVALID_ARG') return 'bad-record'
  return UNREACHABLE.includes(code) ? 'unreachable' : 'broken'
}
