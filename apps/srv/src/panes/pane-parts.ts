/** What a pane is made of, and whom it tells what becomes of it. */
import type { HeldAgentLease, RecordFence } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { Refusal } from '@agentmux/refusals'
import type { Pane } from './pane.js'
import type { OpenRequest } from './pane-answers.js'
import type { PaneChild } from './pane-child.js'
import type { PaneCommand } from './pane-command.js'

export interface PaneParts {
  readonly request: OpenRequest
  readonly command: PaneCommand
  readonly lease: HeldAgentLease
  readonly fence: RecordFence
  readonly child: PaneChild
  /** Where its `opened` event stands in the record. */
  readonly position: number
}

export interface PaneHome {
  readonly clock: Clock
  /** At every change of its state, synchronously. */
  readonly onChange: (pane: Pane) => void
  /** Once, when it takes no more turns: what names it to others must go. */
  readonly onClosing: (pane: Pane) => void
  readonly onFenced: (pane: Pane, refusal: Refusal) => void
  readonly onFault: (pane: Pane, fault: unknown) => void
}
