/**
 * Calls to the relay's routes, with everything that every call needs: the token of the moment, the pause that the relay
 * asked for, routes that are missing, one more try for a reply that was lost. Of what can go wrong only the kind comes out.
 */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Clock } from '@agentmux/lease-model'
import { headerText, isSendableToken } from './header-text.js'
import type { RelayState } from './relay-state.js'
import { MISSING_ROUTE_MS } from './relay-timings.js'
import { ROUTES, type Route } from './route.js'
import type { RelayRequest, SendRequest, Sent } from './send-request.js'
import { TimeLimit } from './time-limit.js'
import { type Unknown, type UnknownWhy, unknown } from './unknown-why.js'

/**
 * The bearer token, called for every request; nothing means that the tier is off. `agent`: whom the request is for, the
 * first of a batch, undefined for the wake. A token may be good for one agent only.
 */
export type TokenSource = (agent: string | undefined) => string | undefined | Promise<string | undefined>

/** For the log: the relay's word was asked for and is not known. The same trouble may come often. */
export interface RelayTrouble {
  readonly route: Route
  readonly agent?: string
  readonly why: UnknownWhy
}

export interface RelayCallsPorts {
  readonly clock: Clock
  readonly state: RelayState
  readonly send: SendRequest
  readonly token: TokenSource
  readonly identityHeaders: Readonly<Record<string, string>>
  /** A number from 0 to below 1, for jitter. */
  readonly random: () => number
  readonly onTrouble: (trouble: RelayTrouble) => void
}

export interface RelayCall {
  /** The agent in the header, and in the path where the route has one. */
  readonly agent?: string
  readonly body?: unknown
  readonly maxBytes?: number
  /** The same for every try of one request, however late; made up if absent. */
  readonly requestKey?: string
  readonly signal?: AbortSignal | undefined
}

/** A status that says something: 2xx or 409. `body` is undefined where it is not JSON. */
export type CallAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | Unknown

/** Whether these are answered says whether the relay knows who holds what. */
const OF_LEASES: ReadonlySet<Route> = new Set(['claim', 'renew', 'renew-batch'])
const MAX_ANSWER_BYTES = 1024 * 1024
/** One more try comes after this long, plus up to as much again. */
const RETRY_AFTER_MS = 150

export class RelayCalls {
  readonly #ports: RelayCallsPorts
  readonly #closing = new AbortController()

  constructor(ports: RelayCallsPorts) {
    this.#ports = ports
    // One listener for each call under way; there may be many, and each is removed.
    setMaxListeners(0, this.#closing.signal)
  }

  /** Ends every call that is under way: their answer is `closed`. */
  close(): void {
    this.#closing.abort(new Error('closed'))
  }

  /** @throws the caller's reason when aborted, and nothing else. */
  async call(route: Route, call: RelayCall): Promise<CallAnswer> {
    call.signal?.throwIfAborted()
    const whyNot = this.whyNot(route)
    if (whyNot !== undefined) return this.trouble(route, call, whyNot)
    const beganMs = this.#ports.clock.bootMs()
    const headers = await this.headers(route, call)
    call.signal?.throwIfAborted()
    if (headers.kind === 'unknown') return this.trouble(route, call, headers.why)
    const sent = await this.#sendTwice(route, call, { headers: headers.headers, beganMs })
    call.signal?.throwIfAborted()
    if (this.#closing.signal.aborted) return unknown('closed')
    const answer = this.judge(route, sent)
    if (answer.kind === 'unknown') return this.trouble(route, call, answer.why)
    if (OF_LEASES.has(route)) this.#ports.state.lastTrouble = undefined
    return answer
  }

  /** Why the route is not asked now; undefined if it is. */
  whyNot(route: Route): UnknownWhy | undefined {
    const { state, clock } = this.#ports
    if (this.#closing.signal.aborted) return 'closed'
    if ((state.missingUntilMs.get(route) ?? 0) > clock.bootMs()) return 'route-missing'
    if (state.pausedUntilMs > clock.bootMs() && ROUTES[route].byPerson !== true) return 'paused'
    return undefined
  }

  /** What an answer says about the route and the relay, whatever its body says. */
  judge(route: Route, sent: Sent): CallAnswer {
    if (sent.kind === 'no-answer') return unknown(sent.why)
    const { state, clock } = this.#ports
    const { status, body, retryAfterMs } = sent
    if ((status === 429 || status === 503) && retryAfterMs !== undefined) {
      state.pausedUntilMs = Math.max(state.pausedUntilMs, clock.bootMs() + retryAfterMs)
    }
    if ((status >= 200 && status < 300) || status === 409) return { kind: 'answered', status, body }
    if (status === 404 || status === 405) {
      state.missingUntilMs.set(route, clock.bootMs() + MISSING_ROUTE_MS)
      return unknown('route-missing')
    }
    if (status === 401) return unknown('unauthorized')
    if (status === 403) return unknown('forbidden')
    return unknown(status >= 300 && status < 400 ? 'redirected' : `http-${status}`)
  }

  /** Remembers and tells that the relay's word is not known. */
  trouble(route: Route, { agent }: Pick<RelayCall, 'agent'>, why: UnknownWhy): Unknown {
    const off = why === 'no-token' || why === 'closed'
    if (OF_LEASES.has(route)) this.#ports.state.lastTrouble = off ? undefined : why
    if (!off) {
      this.#ports.onTrouble({ route, why, ...(agent === undefined ? {} : { agent }) })
    }
    return unknown(why)
  }

  /** The token is asked for now, and within the time of the route. */
  async headers(
    route: Route,
    { agent, requestKey, signal }: RelayCall
  ): Promise<{ kind: 'headers'; headers: Record<string, string> } | Unknown> {
    const token = await this.#token(agent, { limitMs: ROUTES[route].timeoutMs, signal })
    if (token.kind === 'unknown') return token
    return {
      kind: 'headers',
      headers: {
        ...this.#ports.identityHeaders,
        accept: 'application/json',
        authorization: `Bearer ${token.token}`,
        ...(agent === undefined ? {} : { 'x-agent-id': headerText(agent) }),
        ...(ROUTES[route].method === 'POST' ? { 'idempotency-key': requestKey ?? randomUUID() } : {})
      }
    }
  }

  /** A token function that hangs does not hang the call, and what it throws is not told (R16). */
  async #token(
    agent: string | undefined,
    { limitMs, signal }: { limitMs: number; signal: AbortSignal | undefined }
  ): Promise<{ kind: 'token'; token: string } | Unknown> {
    const { clock, token: source } = this.#ports
    const limit = new TimeLimit(limitMs, { clock, signals: [signal, this.#closing.signal] })
    try {
      const token = await limit.bound(async () => source(agent))
      if (token === undefined || token === '') return unknown('no-token')
      return isSendableToken(token) ? { kind: 'token', token } : unknown('token-failed')
    } catch {
      return unknown(this.#closing.signal.aborted ? 'closed' : 'token-failed')
    } finally {
      limit.end()
    }
  }

  async #sendTwice(
    route: Route,
    call: RelayCall,
    { headers, beganMs }: { headers: Record<string, string>; beganMs: number }
  ): Promise<Sent> {
    const { clock, send, random } = this.#ports
    const rule = ROUTES[route]
    const agentInPath = rule.path.endsWith('/') ? encodeURIComponent(call.agent ?? '') : ''
    const request = (): RelayRequest => ({
      method: rule.method,
      path: rule.path + agentInPath,
      headers,
      body: call.body,
      maxBytes: call.maxBytes ?? MAX_ANSWER_BYTES,
      timeoutMs: Math.max(1, rule.timeoutMs - (clock.bootMs() - beganMs))
    })
    const signals = [call.signal, this.#closing.signal]
    const first = await send(request(), signals)
    const lost = first.kind === 'no-answer' && (first.why === 'broken' || first.why === 'unreachable')
    if (!lost || !rule.repeatable || signals.some((signal) => signal?.aborted)) return first
    const waitMs = RETRY_AFTER_MS * (1 + random())
    if (clock.bootMs() - beganMs + waitMs >= rule.timeoutMs) return first
    const pause = new TimeLimit(waitMs, { clock, signals })
    await pause.over()
    pause.end()
    return signals.some((signal) => signal?.aborted) ? first : send(request(), signals)
  }
}
