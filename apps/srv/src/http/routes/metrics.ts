/** What happened to leases, counted, for Prometheus. */
import { METRICS_TYPE } from '../../metrics/metrics.js'
import { FULL, type HttpApp } from '../http-app.js'
import type { HttpPorts } from '../ports.js'

export function addMetricsRoute(app: HttpApp, { metrics }: Pick<HttpPorts, 'metrics'>): void {
  app.get('/metrics', { config: { opens: FULL } }, async (_request, reply) =>
    reply.type(METRICS_TYPE).send(metrics.text())
  )
}
