/**
 * The relay as one of the tiers that are asked before an agent is started (the `heldElsewhere` port of host-admission). It
 * looks only at what the relay said lately: no start waits for the internet (PROTOCOL.md 3).
 */
import type { AgentRef, Holder } from '@agentmux/lease-model'
import type { RelayLeases } from './relay-leases.js'

export type TierAnswer =
  | { readonly kind: 'held'; readonly holder: Holder }
  | { readonly kind: 'free' }
  | { readonly kind: 'unknown'; readonly why: string }

export class RelayTier {
  readonly name = 'relay'
  readonly #leases: RelayLeases

  constructor(leases: RelayLeases) {
    this.#leases = leases
  }

  /**
   * `held` by what was said in the last 90 s; `unknown` if the relay does not answer, or is too old, just now; else `free`:
   * nobody is known to have it. The relay keys on the name: an agent without one is free.
   */
  async heldElsewhere(agent: AgentRef, signal?: AbortSignal): Promise<TierAnswer> {
    signal?.throwIfAborted()
    if (agent.name === undefined) return { kind: 'free' }
    const holder = this.#leases.heldElsewhere(agent.name)
    if (holder !== undefined) return { kind: 'held', holder }
    const why = this.#leases.lastTrouble()
    return why === undefined || this.#leases.isHeld(agent.name)
      ? { kind: 'free' }
      : { kind: 'unknown', why: `the relay's last answer: ${why}` }
  }
}
