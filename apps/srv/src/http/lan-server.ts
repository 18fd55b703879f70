/**
 * What other computers on the network may ask, and nothing else: the L rows of the protocol and whether we are here. It
 * knows no key but the LAN key, and signs its answers where the network has a secret. Listens nowhere by itself: whoever
 * has addresses asks for servers.
 */
import { createServer, type Server } from 'node:http'
import { type LanSecret, NONCE_HEADER, SIGNATURE_HEADER, signAnswer } from '@agentmux/lan-tier'
import { AccessKeys } from './access-keys.js'
import { bareApp } from './bare-app.js'
import { Connections } from './connections.js'
import { answerLanFailures } from './failures.js'
import type { HttpApp } from './http-app.js'
import { LAN_CONNECTIONS_OF_ONE, LAN_HTTP_LIMITS } from './http-limits.js'
import { readJsonBodies } from './json-bodies.js'
import { limitEachSource } from './limit-each-source.js'
import type { HttpPorts } from './ports.js'
import { guardRequests } from './request-guard.js'
import { addHealthRoute } from './routes/health.js'
import { addHoldingRoutes } from './routes/holding.js'
import { addNameRoutes } from './routes/names.js'
import { foreignToLanBecause } from './same-site.js'

export interface LanServerOptions {
  readonly lanKey: string
  readonly secret?: LanSecret | undefined
}

export interface LanServer {
  readonly app: HttpApp
  /** One for each address. All of them answer alike. */
  createServer(): Server
}

export async function createLanServer(
  ports: Pick<HttpPorts, 'panes' | 'admission' | 'metrics' | 'log' | 'version' | 'isYielding'>,
  { lanKey, secret }: LanServerOptions
): Promise<LanServer> {
  const connections = new Connections()
  const app = bareApp({ log: ports.log, limits: LAN_HTTP_LIMITS, connections })
  if (secret !== undefined) signAnswers(app, secret)
  guardRequests(app, {
    keys: new AccessKeys({ lan: lanKey }),
    foreignBecause: foreignToLanBecause,
    metrics: ports.metrics,
    counted: 'agentmux_lan_turned_away_total'
  })
  readJsonBodies(app)
  answerLanFailures(app)
  addHealthRoute(app, ports)
  addNameRoutes(app, ports)
  addHoldingRoutes(app, ports)
  await app.ready()
  return { app, createServer: () => serverFor(app, connections) }
}

function serverFor(app: HttpApp, connections: Connections): Server {
  const limits = LAN_HTTP_LIMITS
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.requestTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: 1_000
    },
    app.routing
  )
  server.maxConnections = limits.connections
  server.on('clientError', connections.refuse)
  limitEachSource(server, LAN_CONNECTIONS_OF_ONE)
  connections.watch(server)
  return server
}

/** Over the exact bytes that are sent, whatever the answer is. */
function signAnswers(app: HttpApp, secret: LanSecret): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const nonce = request.headers[NONCE_HEADER]
    if (typeof nonce !== 'string') return
    const body = typeof payload === 'string' || Buffer.isBuffer(payload) ? payload : ''
    const signature = signAnswer(secret, { nonce, path: request.raw.url ?? '', body })
    if (signature !== undefined) reply.header(SIGNATURE_HEADER, signature)
  })
}
