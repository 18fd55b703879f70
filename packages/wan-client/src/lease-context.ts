/** What every lease operation works with. */
import type { Clock } from '@agentmux/lease-model'
import type { AgentLocks } from './agent-locks.js'
import type { RelayCalls } from './relay-calls.js'
import { instanceIdOf, type RelayIdentity } from './relay-identity.js'
import type { RelayState } from './relay-state.js'

export interface LeaseContext {
  readonly clock: Clock
  readonly state: RelayState
  readonly calls: RelayCalls
  readonly locks: AgentLocks
  readonly identity: RelayIdentity
  /** Whether somebody here wants the agent now; undefined if nobody keeps count. */
  readonly isSubscribed: ((agent: string) => boolean) | undefined
}

/** What every lease request says of us. */
export function holderBody(identity: RelayIdentity): Record<string, string> {
  const { host, channel, version, install } = identity
  return { instance: instanceIdOf(identity), host, channel, version, install }
}

export interface OperationOptions {
  /** Ends the waiting, with its reason. What was sent may still have been done by the relay. */
  readonly signal?: AbortSignal | undefined
}
