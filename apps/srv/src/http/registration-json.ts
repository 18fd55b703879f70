/** A name under which a pane can be reached, as it goes over the wire. */
import type { PaneRegistration } from '../panes/pane-answers.js'

export function registrationJson(one: PaneRegistration) {
  return {
    agent_id: one.agentName,
    block_id: one.blockId,
    ...(one.tabId === undefined ? {} : { tab_id: one.tabId }),
    uid: one.uid,
    registered_at: one.registeredAtMs,
    last_seen: one.lastSeenMs,
    registration_nonce: one.nonce
  }
}
