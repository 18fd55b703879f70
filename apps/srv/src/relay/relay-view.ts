/** The relay as `doctor` sees it. No token is in it (R16). */
import type { RelayLeases } from '@agentmux/wan-client'
import type { RelaySetting } from './relay-setting.js'

export interface RelayView {
  readonly url: string
  readonly instance: string
  /** Agents that are held there for us. */
  readonly held: readonly string[]
  /** Why its last word was none. */
  readonly trouble?: string
  /** What is the matter with the token. */
  readonly token_problem?: string
}

export function relayView({ url, token }: RelaySetting, leases: RelayLeases): RelayView {
  const trouble = leases.lastTrouble()
  const problem = token.problem()
  return {
    url,
    instance: leases.instanceId,
    held: leases.held(),
    ...(trouble === undefined ? {} : { trouble }),
    ...(problem === undefined ? {} : { token_problem: problem })
  }
}
