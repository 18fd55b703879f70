/**
 * The HTTP side of the relay: made complete and closed as one, listening nowhere yet. Every route stands behind the guard,
 * everything that a client can use up is bounded, and closing waits for answers, not for readers.
 */
import { randomUUID } from 'node:crypto'
import { fastify, LogController } from 'fastify'
import { Connections } from './connections.js'
import { countRequests } from './count-requests.js'
import { answerBadAddress, answerFailures } from './failures.js'
import { guardRequests } from './guard-requests.js'
import type { HttpApp } from './http-app.js'
import { HTTP_LIMITS, type HttpLimits } from './http-limits.js'
import type { HttpPorts } from './http-ports.js'
import { readJsonBodies } from './json-bodies.js'
import { makeServer, type TlsFiles } from './make-server.js'
import { RequestRates } from './request-rates.js'
import { addLeaseRoutes } from './routes/leases.js'
import { addMessageRoutes, addWakeRoute } from './routes/messages.js'
import { addRenewBatchRoute } from './routes/renew-batch.js'
import { addStateRoutes } from './routes/state.js'
import { Wakes } from './wakes.js'

export interface HttpServerOptions {
  readonly tls?: TlsFiles | undefined
  readonly limits?: Partial<HttpLimits>
}

/** A name of 256 characters, every one of them percent-encoded. */
const MAX_PARAMETER = 4_096

export function createHttpServer(ports: HttpPorts, options: HttpServerOptions = {}): HttpApp {
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const connections = new Connections()
  const app: HttpApp = fastify({
    loggerInstance: ports.log,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    exposeHeadRoutes: false,
    bodyLimit: limits.bodyBytes,
    routerOptions: { maxParamLength: MAX_PARAMETER },
    forceCloseConnections: false,
    serverFactory: (listener) => makeServer(listener, limits, { tls: options.tls, connections }),
    frameworkErrors: answerBadAddress
  })
  const wakes = new Wakes(ports, limits)
  ports.metrics.gauge(
    { name: 'agentmux_relay_connections', help: 'Open connections.' },
    () => connections.size
  )

  app.addHook('onRequest', async (request, reply) => {
    connections.answering(request.socket, reply.raw)
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
  })
  countRequests(app, ports.metrics)
  guardRequests(app, ports, new RequestRates(limits.requestsPerSecond))
  readJsonBodies(app)
  answerFailures(app, ports.metrics)
  addStateRoutes(app, ports)
  addLeaseRoutes(app, ports)
  addRenewBatchRoute(app, ports, limits)
  addMessageRoutes(app, ports, limits)
  addWakeRoute(app, wakes)
  closeInTime(app, limits, { connections, wakes })
  return app
}

interface ToClose {
  readonly connections: Connections
  readonly wakes: Wakes
}

/** Streams end at once; an answer under way is waited for, and its connection not kept. */
function closeInTime(app: HttpApp, limits: HttpLimits, { connections, wakes }: ToClose): void {
  let closing = false
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    closing = true
    wakes.close()
    connections.closeIdle()
    timer = setTimeout(() => app.server.closeAllConnections(), limits.closeTimeoutMs)
  })
  app.addHook('onClose', async () => clearTimeout(timer))
  app.addHook('onSend', async (request, reply) => {
    if (closing) reply.header('connection', 'close')
    // From here on it is for the client to read; one that does not is not waited for.
    request.socket.setTimeout(limits.stallTimeoutMs)
  })
}
