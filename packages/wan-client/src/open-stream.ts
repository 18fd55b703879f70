/**
 * Opens the relay's wake as a stream of events (SSE). Only the opening has a time limit; whoever reads the stream bounds
 * its silence, and ends it by destroying it.
 */
import type { Readable } from 'node:stream'
import type { Clock } from '@agentmux/lease-model'
import type { Dispatcher } from 'undici'
import type { RelayCalls } from './relay-calls.js'
import { retryAfterMs } from './retry-after.js'
import { ROUTES } from './route.js'
import { TimeLimit } from './time-limit.js'
import type { Unknown } from './unknown-why.js'

export type OpenedStream = { readonly kind: 'open'; readonly body: Readable } | Unknown

/** @throws the signal's reason when aborted while it opens; aborted later, it breaks the stream. */
export type OpenStream = (signal: AbortSignal) => Promise<OpenedStream>

export interface OpenStreamOptions {
  readonly dispatcher: Dispatcher
  readonly origin: string
  readonly basePath: string
  readonly clock: Clock
  readonly calls: RelayCalls
}

const ROUTE = 'wake'

export function createOpenStream(options: OpenStreamOptions): OpenStream {
  const { dispatcher, origin, basePath, clock, calls } = options
  return async (signal) => {
    signal.throwIfAborted()
    const whyNot = calls.whyNot(ROUTE)
    if (whyNot !== undefined) return calls.trouble(ROUTE, {}, whyNot)
    const headers = await calls.headers(ROUTE, { signal })
    signal.throwIfAborted()
    if (headers.kind === 'unknown') return calls.trouble(ROUTE, {}, headers.why)
    const { method, path, timeoutMs } = ROUTES[ROUTE]
    const limit = new TimeLimit(timeoutMs, { clock, signals: [signal] })
    try {
      const response = await dispatcher.request({
        origin,
        path: basePath + path,
        method,
        headers: { ...headers.headers, accept: 'text/event-stream' },
        signal: limit.signal,
        headersTimeout: timeoutMs,
        bodyTimeout: 0
      })
      // A stream that is left ends with an error that nobody waits for.
      response.body.on('error', () => {})
      if (response.statusCode === 200 && isEventStream(response.headers['content-type'])) {
        return { kind: 'open', body: response.body }
      }
      await response.body.dump()
      const header = response.headers['retry-after']
      const judged = calls.judge(ROUTE, {
        kind: 'answered',
        status: response.statusCode,
        body: undefined,
        retryAfterMs: retryAfterMs(Array.isArray(header) ? header[0] : header, clock.wallMs())
      })
      return calls.trouble(ROUTE, {}, judged.kind === 'unknown' ? judged.why : 'bad-answer')
    } catch {
      signal.throwIfAborted()
      return calls.trouble(ROUTE, {}, limit.ranOut ? 'timed-out' : 'broken')
    } finally {
      limit.end()
    }
  }
}

function isEventStream(contentType: string | string[] | undefined): boolean {
  return typeof contentType === 'string' && /^text\/event-stream\s*(;|$)/i.test(contentType)
}
