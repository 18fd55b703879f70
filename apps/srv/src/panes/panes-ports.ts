/** What the panes of a daemon need around them. */
import type { OwnServer, ReactiveRegistry } from '@agentmux/host-admission'
import type { OpenPanePorts } from './open-pane.js'
import type { PaneNotice } from './pane-notice.js'

export interface PanesPorts extends Omit<OpenPanePorts, 'onFault'> {
  readonly registry: ReactiveRegistry
  /** Where this daemon answers, and the key others use: for the registry. */
  readonly server: () => OwnServer
  /** For the log and the counters. Must not throw. */
  readonly onNotice?: (notice: PaneNotice) => void
}

export interface PanesOptions {
  /** Live panes; 512 unless given. */
  readonly maxLive?: number
  /** Ended panes that are kept for reading; 100 unless given. */
  readonly maxEnded?: number
}
