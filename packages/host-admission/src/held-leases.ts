/** The leases that are held in this process, those included whose processes are still being ended after a loss. */
import type { HeldAgentLease } from './held-agent-lease.js'

export class HeldLeases {
  readonly all = new Set<HeldAgentLease>()
  readonly #byUid = new Map<string, Set<HeldAgentLease>>()

  /** There may be a lost one and its successor at the same time. */
  of(uid: string): readonly HeldAgentLease[] {
    return [...(this.#byUid.get(uid) ?? [])]
  }

  add(lease: HeldAgentLease): void {
    this.all.add(lease)
    const { uid } = lease.agent
    const leases = this.#byUid.get(uid)
    if (leases === undefined) this.#byUid.set(uid, new Set([lease]))
    else leases.add(lease)
  }

  delete(lease: HeldAgentLease): void {
    this.all.delete(lease)
    const { uid } = lease.agent
    const leases = this.#byUid.get(uid)
    leases?.delete(lease)
    if (leases?.size === 0) this.#byUid.delete(uid)
  }
}
