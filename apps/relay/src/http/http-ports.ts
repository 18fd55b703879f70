/** What the routes need of the relay. */
import type { Clock } from '@agentmux/lease-model'
import type { Log } from '../log/log.js'
import type { Metrics } from '../metrics/metrics.js'
import type { RelayStore } from '../store/relay-store.js'

export interface HttpPorts {
  readonly store: RelayStore
  readonly metrics: Metrics
  readonly log: Log
  readonly clock: Clock
  readonly version: string
}
