/** A pane as it goes over the wire. Holds no secret, because a view has none. */
import type { PaneView } from '../panes/pane-answers.js'

export function paneJson(pane: PaneView): Record<string, unknown> {
  return {
    block_id: pane.blockId,
    uid: pane.uid,
    ...(pane.agent === undefined ? {} : { agent: pane.agent }),
    state: pane.state,
    command: pane.command,
    cwd: pane.cwd,
    pid: pane.pid,
    epoch: pane.epoch,
    opened_at_ms: pane.openedAtMs,
    ...(pane.endedAtMs === undefined ? {} : { ended_at_ms: pane.endedAtMs }),
    ...(pane.exit === undefined ? {} : { exit: pane.exit }),
    ...(pane.refusal === undefined ? {} : { refusal: pane.refusal })
  }
}
