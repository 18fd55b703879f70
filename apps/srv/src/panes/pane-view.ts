/** A pane as others may see it: plain data without a secret, and without what is not known yet. */
import type { Refusal } from '@agentmux/refusals'
import type { PaneExit, PaneState, PaneView } from './pane-answers.js'
import type { PaneParts } from './pane-parts.js'

export interface PaneNow {
  readonly state: PaneState
  readonly openedAtMs: number
  readonly endedAtMs: number | undefined
  readonly exit: PaneExit | undefined
  readonly refusal: Refusal | undefined
}

export function paneView(
  { request, command, lease, child }: PaneParts,
  { state, openedAtMs, endedAtMs, exit, refusal }: PaneNow
): PaneView {
  const { uid, agent } = request
  return {
    blockId: lease.blockId,
    uid,
    ...(agent === undefined ? {} : { agent }),
    state,
    command: request.command,
    cwd: command.cwd,
    pid: child.pid,
    epoch: lease.epoch,
    openedAtMs,
    ...(endedAtMs === undefined ? {} : { endedAtMs }),
    ...(exit === undefined ? {} : { exit }),
    ...(refusal === undefined ? {} : { refusal })
  }
}
