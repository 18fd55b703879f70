/**
 * Every answer that is not one: JSON with `error`, and the id under which the log has more. Keeps true that no answer shows
 * the words of an internal error, and that a caller who went away is no error.
 */
import { AdmissionFault, RecordFault } from '@agentmux/host-admission'
import { LeaseFault } from '@agentmux/lease-store'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from '../log/log.js'
import type { HttpApp, RouteAccess } from './http-app.js'
import { HttpError } from './http-error.js'

/** Of fastify's own errors, those a client causes, in our words. */
const ERRORS: Readonly<Record<number, string>> = {
  400: 'bad request',
  404: 'not found',
  408: 'request timed out',
  413: 'the body is too large',
  414: 'the address is too long',
  415: 'the body must be application/json',
  431: 'the headers are too large',
  503: 'closing'
}

/** Nobody reads it; it tells our own log. */
const GONE = 499

/** For other computers: what is not theirs to ask is not there, whatever the key and the method. */
export function answerLanFailures(app: HttpApp): void {
  answerErrors(app)
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'not found' }))
}

export function answerFailures(app: HttpApp): void {
  answerErrors(app)
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsAt(app.routeAccess, pathOf(request.url))
    if (methods.length === 0) return reply.code(404).send({ error: 'not found' })
    return reply.code(405).header('allow', methods.join(', ')).send({ error: 'method not allowed' })
  })
}

function answerErrors(app: HttpApp): void {
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof HttpError) {
      return reply.code(error.statusCode).send({ error: error.message, ...error.fields })
    }
    if (request.socket.destroyed) return reply.code(GONE).send()
    if (isFault(error)) {
      request.log.error({ err: error, method: request.method, path: pathOf(request.url) }, 'fault')
      return reply.code(503).send({ error: error.message })
    }
    const status = statusOf(error)
    const words = status < 500 || status === 503 ? ERRORS[status] : undefined
    if (words !== undefined) return reply.code(status).send({ error: words })
    request.log.error({ err: error, method: request.method, path: pathOf(request.url) }, 'request failed')
    return reply.code(500).send({ error: 'internal error', request_id: request.id })
  })
}

/** For fastify's `frameworkErrors`: an address that no route could have. */
export function answerBadAddress(_error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  reply.code(400).send({ error: 'bad request' })
}

/** Files that cannot be used, or a guard that does not run: it may be otherwise in a moment. Their sentences are for people. */
function isFault(error: unknown): error is LeaseFault | RecordFault | AdmissionFault {
  return error instanceof LeaseFault || error instanceof RecordFault || error instanceof AdmissionFault
}

function statusOf(error: unknown): number {
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : 500
}

function methodsAt(routes: readonly RouteAccess[], path: string): string[] {
  const there = routes.filter((route) => pattern(route.path).test(path))
  return [...new Set(there.map((route) => route.method))]
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/:[a-z]+/g, '[^/]+')}$`)
}
