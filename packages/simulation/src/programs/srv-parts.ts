/**
 * Parts of apps/srv that a simulated daemon runs as they are. Nothing is imported from an app but by whoever runs it: whoever
 * bundles the daemon hands them in.
 */
import type { ElsewhereTier } from '@agentmux/host-admission'
import type { Clock } from '@agentmux/lease-model'
import type { RelayLeases, TakeOverAnswer } from '@agentmux/wan-client'
import type { LinkParts } from './relay-link.js'

/** A pane, as far as the relay's side of a daemon looks at it. */
export interface PaneSeen {
  readonly blockId: string
  readonly agent: string
  readonly state: 'running' | 'closing' | 'ended'
  readonly endedAtMs?: number
}

export interface Driven {
  /** True if with it the last of its name has gone. */
  note(event: { kind: 'opened' | 'changed' | 'removed'; pane: PaneSeen }): boolean
  expect(name: string, forMs: number): void
  expectNoLonger(name: string): void
  has(key: string): boolean
  keys(): string[]
  running(key: string): PaneSeen | undefined
  runningKeys(): string[]
}

export interface SrvParts extends LinkParts {
  readonly DrivenAgents: new (clock: Clock) => Driven
  readonly RelayCheck: new (leases: RelayLeases) => Pick<ElsewhereTier, 'heldElsewhere'>
  readonly takeAtRelay: (
    name: string,
    options: { readonly letGoBy?: string | undefined; readonly signal: AbortSignal },
    ports: {
      readonly leases: RelayLeases
      readonly driven: Driven
      readonly letGo: () => void
      readonly onTaken: (epoch: number) => void
    }
  ) => Promise<TakeOverAnswer>
}
