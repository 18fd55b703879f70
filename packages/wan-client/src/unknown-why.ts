/**
 * Why the relay's word is not known (R8). None of these stops anything local: the tier fails open (R7). A code for programs
 * and logs; never the text of an error, which could carry an address or a token (R16).
 */
export type UnknownWhy =
  /** The token function gave none: the tier is off. */
  | 'no-token'
  /** The token function failed, or gave what cannot stand in a header. */
  | 'token-failed'
  /** The name cannot be sent to a relay. */
  | 'unusable-name'
  /** Nobody listens there, or the name does not resolve. */
  | 'unreachable'
  | 'timed-out'
  /** The connection broke before the answer was complete, or what came was not HTTP. */
  | 'broken'
  | 'too-large'
  /** Redirects are never followed: the token would go along. */
  | 'redirected'
  /** 401: the token is not, or no longer, good. */
  | 'unauthorized'
  /** 403: the token is not for this agent. */
  | 'forbidden'
  /** 404 or 405, now or in the last ten minutes: the relay is older than the route. */
  | 'route-missing'
  /** The relay asked for a pause (Retry-After) that is not over. */
  | 'paused'
  /** The right status with a body that does not say what it should. */
  | 'bad-answer'
  /** The relay said that it does not know. */
  | 'relay-cannot-tell'
  /** Something newer happened to the agent while the answer was under way. */
  | 'changed-meanwhile'
  /** The client was closed. */
  | 'closed'
  | `http-${number}`

export interface Unknown {
  readonly kind: 'unknown'
  readonly why: UnknownWhy
}

export function unknown(why: UnknownWhy): Unknown {
  return { kind: 'unknown', why }
}

const CONCERNS_ONE_AGENT: ReadonlySet<UnknownWhy> = new Set([
  'unusable-name',
  'forbidden',
  'bad-answer',
  'relay-cannot-tell',
  'changed-meanwhile'
])

/** Whether asking for another agent now would most likely end the same way. */
export function concernsAll(why: UnknownWhy): boolean {
  return !CONCERNS_ONE_AGENT.has(why)
}

/** Whether asking the same again, ever, would end the same way: the relay has looked at it and does not want it. */
export function refusedForGood(why: UnknownWhy): boolean {
  return why === 'route-missing' || (/^http-4/.test(why) && why !== 'http-408' && why !== 'http-429')
}
