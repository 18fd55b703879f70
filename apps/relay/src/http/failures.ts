/**
 * Every answer that is not one: JSON with `error`. Keeps true that no answer shows the words of an internal error or what a
 * request held, and that a store that could not be asked is 503, never a guess.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Metrics } from '../metrics/metrics.js'
import { StoreUnavailable } from '../store/store-unavailable.js'
import type { HttpApp } from './http-app.js'
import { HttpError } from './http-error.js'
import { retryAfter } from './retry-after.js'

/** Of fastify's own errors, those a client causes, in our words. */
const ERRORS: Readonly<Record<number, string>> = {
  400: 'bad request',
  408: 'request timed out',
  413: 'the body is too large',
  414: 'the address is too long',
  415: 'the body must be application/json',
  431: 'the headers are too large',
  503: 'closing'
}
/** Nobody reads it. */
const GONE = 499
const UNAVAILABLE_MS = 1_000

export function answerFailures(app: HttpApp, metrics: Metrics): void {
  const unavailable = metrics.counter(
    { name: 'agentmux_relay_store_unavailable_total', help: 'Requests that the store could not answer.' },
    'because',
    ['io', 'full', 'timeout', 'unreachable', 'contended', 'closed']
  )
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof HttpError) {
      if (error.retryAfterMs !== undefined) reply.header('retry-after', retryAfter(error.retryAfterMs))
      return reply.code(error.statusCode).send({ error: error.message, ...error.fields })
    }
    if (error instanceof StoreUnavailable) {
      unavailable.add(error.code)
      request.log.error(
        { event: 'store-unavailable', code: error.code, cause: String(error.cause) },
        error.message
      )
      reply.header('retry-after', retryAfter(UNAVAILABLE_MS))
      return reply.code(503).send({ error: 'unavailable' })
    }
    if (request.socket.destroyed) return reply.code(GONE).send()
    const status = statusOf(error)
    const words = status < 500 || status === 503 ? ERRORS[status] : undefined
    if (words !== undefined) return reply.code(status).send({ error: words })
    request.log.error({ err: error, route: request.routeOptions.url }, 'request failed')
    return reply.code(500).send({ error: 'internal error', request_id: request.id })
  })
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }))
}

/** For fastify's `frameworkErrors`: an address that no route could have. */
export function answerBadAddress(_error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  reply.code(400).send({ error: 'bad request' })
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : 500
}
