/** The agent, the holders and the moment that the tests of sentences share. */
import type { AgentRef, Holder } from '@agentmux/lease-model'

export const NOW_MS = Date.UTC(2026, 0, 2, 14, 5, 0)

export const agent: AgentRef = { uid: '7c0e', name: 'Agent3' }
export const nameless: AgentRef = { uid: '7c0e' }

export const here: Holder = {
  place: 'this-host',
  hostname: 'mill',
  channel: 'stable',
  version: '0.44.1',
  pid: 4242,
  acquiredAtMs: NOW_MS - 3 * 60_000,
  epoch: 7,
  blockId: 'pane-1'
}
export const onLan: Holder = { ...here, place: 'lan', hostname: 'barn', pid: 0 }
export const atRelay: Holder = { ...here, place: 'relay', hostname: 'laptop', channel: 'dev', pid: 0 }
