/**
 * One HTTP request and its whole answer. Time and size are bounded, an abort ends it at once, no redirect is followed, and
 * every body is read or its connection closed. What the HTTP library throws stays in here: it may name addresses.
 */
import type { Clock } from '@agentmux/lease-model'
import type { Dispatcher } from 'undici'
import { readBody } from './read-body.js'
import { retryAfterMs } from './retry-after.js'
import { TimeLimit } from './time-limit.js'

export interface RelayRequest {
  readonly method: 'GET' | 'POST'
  /** Below the relay's base path, encoded. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON; undefined for none. */
  readonly body: unknown
  readonly maxBytes: number
  /** From now to the last byte of the answer. */
  readonly timeoutMs: number
}

export type Sent =
  | {
      readonly kind: 'answered'
      readonly status: number
      /** Undefined where the body is not JSON. */
      readonly body: unknown
      readonly retryAfterMs: number | undefined
    }
  | { readonly kind: 'no-answer'; readonly why: 'unreachable' | 'timed-out' | 'broken' | 'too-large' }

/** Never rejects: an abort by a caller's signal comes out as `broken`, and the caller looks at its signal. */
export type SendRequest = (
  request: RelayRequest,
  signals: readonly (AbortSignal | undefined)[]
) => Promise<Sent>

export interface SendRequestOptions {
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly basePath: string
  readonly clock: Clock
}

export function createSendRequest({ dispatcher, origin, basePath, clock }: SendRequestOptions): SendRequest {
  return async (request, signals) => {
    const limit = new TimeLimit(request.timeoutMs, { clock, signals })
    try {
      const response = await dispatcher.request({
        origin,
        path: basePath + request.path,
        method: request.method,
        headers: {
          ...request.headers,
          ...(request.body === undefined ? {} : { 'content-type': 'application/json' })
        },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: limit.signal,
        headersTimeout: request.timeoutMs,
        bodyTimeout: request.timeoutMs
      })
      const { statusCode: status } = response
      const body = await readBody(response.body, request.maxBytes)
      if (body.kind === 'too-large') return { kind: 'no-answer', why: 'too-large' }
      const header = response.headers['retry-after']
      return {
        kind: 'answered',
        status,
        body: body.value,
        retryAfterMs: retryAfterMs(Array.isArray(header) ? header[0] : header, clock.wallMs())
      }
    } catch (fault) {
      return { kind: 'no-answer', why: limit.ranOut ? 'timed-out' : whyOf(fault) }
    } finally {
      limit.end()
    }
  }
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
const TIMED_OUT = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT'
])

function whyOf(fault: unknown): 'unreachable' | 'timed-out' | 'broken' {
  // Several addresses were tried: the first error tells.
  const first: unknown = fault instanceof AggregateError ? fault.errors[0] : fault
  const code = first instanceof Error && 'code' in first ? String(first.code) : ''
  if (UNREACHABLE.has(code)) return 'unreachable'
  return TIMED_OUT.has(code) ? 'timed-out' : 'broken'
}
