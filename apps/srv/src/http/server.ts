/**
 * The HTTP server of the daemon: made complete and closed as one, listening nowhere yet. Every route stands behind the
 * guard, everything that a client can use up is bounded, and closing ends what is still being read.
 */
import { AccessKeys } from './access-keys.js'
import { bareApp } from './bare-app.js'
import { Connections } from './connections.js'
import { EventStreams } from './event-streams.js'
import { answerFailures } from './failures.js'
import type { HttpApp } from './http-app.js'
import { HTTP_LIMITS, type HttpLimits } from './http-limits.js'
import { readJsonBodies } from './json-bodies.js'
import type { HttpPorts } from './ports.js'
import { RecordStreams } from './record-streams.js'
import { guardRequests } from './request-guard.js'
import { addAgentRoutes } from './routes/agents.js'
import { addEventRoute } from './routes/events.js'
import { addHealthRoute } from './routes/health.js'
import { addHoldingRoutes } from './routes/holding.js'
import { addLanRoutes } from './routes/lan.js'
import { addMetricsRoute } from './routes/metrics.js'
import { addNameRoutes } from './routes/names.js'
import { addReactiveRoutes } from './routes/reactive.js'
import { addRecordRoute } from './routes/record.js'
import { addRelayRoutes } from './routes/relay.js'
import { addReleaseRoute } from './routes/release.js'
import { addTakeOverRoute } from './routes/take-over.js'
import { foreignBecause } from './same-site.js'

export interface HttpServerOptions {
  /** Opens everything. */
  readonly key: string
  /** Opens what another computer may ask. */
  readonly lanKey?: string
  readonly limits?: Partial<HttpLimits>
}

/** To be made to listen on loopback alone. @throws TypeError for a key that no request could present. */
export function createHttpServer(ports: HttpPorts, options: HttpServerOptions): HttpApp {
  const limits = { ...HTTP_LIMITS, ...options.limits }
  const connections = new Connections()
  const app = bareApp({ log: ports.log, limits, connections })
  app.server.maxConnections = limits.connections
  connections.watch(app.server)

  const keys = new AccessKeys({
    full: options.key,
    lan: options.lanKey,
    paneOfKey: (presented) => ports.panes.paneOfKey(presented)
  })
  const events = new EventStreams(ports, limits)
  const records = new RecordStreams(ports, limits)

  guardRequests(app, {
    keys,
    foreignBecause,
    metrics: ports.metrics,
    counted: 'agentmux_http_turned_away_total'
  })
  readJsonBodies(app)
  answerFailures(app)
  addHealthRoute(app, ports)
  addReactiveRoutes(app, ports)
  addNameRoutes(app, ports)
  addHoldingRoutes(app, ports)
  addReleaseRoute(app, ports)
  addTakeOverRoute(app, ports)
  addAgentRoutes(app, ports, limits)
  addRecordRoute(app, ports, records)
  addEventRoute(app, events)
  addLanRoutes(app, ports)
  addRelayRoutes(app, ports)
  addMetricsRoute(app, ports)
  closeInTime(app, limits, { connections, streams: [events, records] })
  return app
}

interface ToClose {
  readonly connections: Connections
  readonly streams: readonly { close(): void }[]
}

/** Streams end at once; an answer under way is waited for, and its connection not kept. */
function closeInTime(app: HttpApp, limits: HttpLimits, { connections, streams }: ToClose): void {
  let closing = false
  let timer: NodeJS.Timeout | undefined
  app.addHook('preClose', async () => {
    closing = true
    for (const stream of streams) stream.close()
    connections.closeIdle()
    timer = setTimeout(() => app.server.closeAllConnections(), limits.closeTimeoutMs)
  })
  app.addHook('onClose', async () => clearTimeout(timer))
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
}
