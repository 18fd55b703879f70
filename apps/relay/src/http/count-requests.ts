/** Requests by the class of their answer, and how long they took in all. */
import type { Metrics } from '../metrics/metrics.js'
import type { HttpApp } from './http-app.js'

const CLASSES = ['2xx', '4xx', '409', '5xx'] as const

export function countRequests(app: HttpApp, metrics: Metrics): void {
  const requests = metrics.counter(
    { name: 'agentmux_relay_requests_total', help: 'Requests that were answered; 409 is no error.' },
    'status',
    CLASSES
  )
  let totalMs = 0
  metrics.gauge(
    { name: 'agentmux_relay_request_seconds_sum', help: 'Seconds spent on all of them.' },
    () => totalMs / 1_000
  )
  app.addHook('onResponse', async (_request, reply) => {
    totalMs += reply.elapsedTime
    requests.add(classOf(reply.statusCode))
  })
}

function classOf(status: number): (typeof CLASSES)[number] {
  if (status === 409) return '409'
  if (status >= 500) return '5xx'
  return status >= 400 ? '4xx' : '2xx'
}
