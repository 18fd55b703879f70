/** What the routes need of the daemon. */
import type { HostAdmission } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { HandOver } from '../daemon/release-answer.js'
import type { TakeOverPane } from '../daemon/take-over-answer.js'
import type { LanSwitch } from '../lan/lan-switch.js'
import type { Log } from '../log/log.js'
import type { Metrics } from '../metrics/metrics.js'
import type { Panes } from '../panes/panes.js'
import type { RelayLink } from '../relay/relay-link.js'

export interface HttpPorts {
  readonly panes: Panes
  readonly handOver: HandOver
  readonly takeOverPane: TakeOverPane
  readonly admission: Pick<HostAdmission, 'held' | 'claimant'>
  readonly metrics: Metrics
  readonly log: Log
  readonly clock: Clock
  readonly version: string
  /** Whether an agent that is held here is about to be given up to another computer. */
  readonly isYielding?: ((uid: string) => boolean) | undefined
  /** The relay; absent where none is set. */
  readonly relay?: RelayLink | undefined
  /** What other computers are asked and told. */
  readonly lan: LanSwitch
}
