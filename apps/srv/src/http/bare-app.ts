/**
 * A server without routes: its limits, the ids of its requests and what every answer carries. What is made on top of it says
 * who is let in, and where it listens.
 */
import { randomUUID } from 'node:crypto'
import { fastify, LogController } from 'fastify'
import type { Log } from '../log/log.js'
import type { Connections } from './connections.js'
import { answerBadAddress } from './failures.js'
import type { HttpApp } from './http-app.js'
import type { HttpLimits } from './http-limits.js'

export interface BareAppOptions {
  readonly log: Log
  readonly limits: HttpLimits
  readonly connections: Connections
}

export function bareApp({ log, limits, connections }: BareAppOptions): HttpApp {
  const app: HttpApp = fastify({
    // What it says of itself below a warning, that it listens say, stands in our own lines already.
    loggerInstance: log.child({}, { level: 'warn' }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    exposeHeadRoutes: false,
    bodyLimit: limits.bodyBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    forceCloseConnections: false,
    http: {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.max(10, Math.min(1_000, limits.requestTimeoutMs / 4))
    },
    clientErrorHandler: connections.refuse,
    frameworkErrors: answerBadAddress
  })
  app.addHook('onRequest', async (request, reply) => {
    connections.answering(request.socket, reply.raw)
    reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff'
    })
  })
  // From here on it is for the client to read; one that does not is not waited for.
  app.addHook('onSend', async (request) => {
    request.socket.setTimeout(limits.stallTimeoutMs)
  })
  return app
}
