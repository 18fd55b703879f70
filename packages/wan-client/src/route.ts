/** The relay's routes: where they are, how long they may take, and which may be asked again when the reply was lost. */

export type Route =
  | 'claim'
  | 'renew'
  | 'release'
  | 'take'
  | 'renew-batch'
  | 'holder'
  | 'pending'
  | 'ack'
  | 'give-back'
  | 'inject'
  | 'wake'

export interface RouteRule {
  readonly method: 'GET' | 'POST'
  /** Ends with `/` where the agent follows. */
  readonly path: string
  readonly timeoutMs: number
  /** Asking twice is the same as once: for the holder, or by the request's key. */
  readonly repeatable: boolean
  /** Whether a person waits for it: then a pause that the relay asked for does not hold it back. */
  readonly byPerson?: boolean
}

const TIMEOUT_MS = 10_000
const QUERY_TIMEOUT_MS = 5_000

export const ROUTES: Readonly<Record<Route, RouteRule>> = {
  claim: { method: 'POST', path: '/agents/lease', timeoutMs: TIMEOUT_MS, repeatable: true },
  renew: { method: 'POST', path: '/agents/lease/renew', timeoutMs: TIMEOUT_MS, repeatable: true },
  release: { method: 'POST', path: '/agents/lease/release', timeoutMs: TIMEOUT_MS, repeatable: true },
  take: {
    method: 'POST',
    path: '/agents/lease/take',
    timeoutMs: TIMEOUT_MS,
    repeatable: true,
    byPerson: true
  },
  'renew-batch': {
    method: 'POST',
    path: '/agents/lease/renew-batch',
    timeoutMs: TIMEOUT_MS,
    repeatable: true
  },
  holder: { method: 'GET', path: '/agents/lease/', timeoutMs: QUERY_TIMEOUT_MS, repeatable: true },
  pending: { method: 'GET', path: '/reactive/pending/', timeoutMs: TIMEOUT_MS, repeatable: true },
  ack: { method: 'POST', path: '/reactive/ack', timeoutMs: TIMEOUT_MS, repeatable: true },
  'give-back': { method: 'POST', path: '/reactive/release', timeoutMs: TIMEOUT_MS, repeatable: true },
  // An older relay does not know our request keys: a second one would be a second message.
  inject: { method: 'POST', path: '/reactive/inject', timeoutMs: TIMEOUT_MS, repeatable: false },
  wake: { method: 'GET', path: '/reactive/wake', timeoutMs: TIMEOUT_MS, repeatable: false }
}
