/**
 * The leases of this process by the name of their agent, for the one tier that knows agents by name: when the relay says
 * that another holds a name, what runs here under it is fenced (R4). A name never decides who may claim (R1).
 */
import type { AgentRef } from '@agentmux/lease-model'
import type { Refusal } from '@agentmux/refusals'

/** A lease that can be told that it is lost. */
export interface Fenceable {
  readonly agent: AgentRef
  fence(refusal: Refusal): void
}

export class HeldByName {
  readonly #leases = new Map<string, Fenceable>()

  /** A newer lease of the same name takes the entry over. A lease of an agent without a name has none. */
  add(lease: Fenceable): void {
    const name = indexed(lease.agent.name)
    if (name !== '') this.#leases.set(name, lease)
  }

  /** Removes the entry only if it is this lease's. */
  remove(lease: Fenceable): void {
    const name = indexed(lease.agent.name)
    if (this.#leases.get(name) === lease) this.#leases.delete(name)
  }

  /** Fences the lease that this process holds under the name. Whether there was one. */
  fenceAgentNamed(name: string, refusal: Refusal): boolean {
    const lease = this.#leases.get(indexed(name))
    lease?.fence(refusal)
    return lease !== undefined
  }
}

function indexed(name: string | undefined): string {
  return (name ?? '').trim().toLowerCase()
}
