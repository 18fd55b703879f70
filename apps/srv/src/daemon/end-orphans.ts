/**
 * What a daemon that was killed has left running, ended before anything is opened here (R12): nobody holds those agents,
 * and nobody may ever ask for them again. A lease whose holder is dead is claimed, which ends what ran under it, and given
 * back. Those of other channels are theirs to see to.
 */
import { randomUUID } from 'node:crypto'
import type { HostAdmission } from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import type { ListedLease } from '@agentmux/lease-store'

export interface EndOrphansOptions {
  readonly signal: AbortSignal
  /** Told of what could not be ended, for the log. */
  readonly onFault: (agent: AgentRef, fault: unknown) => void
}

const AT_ONCE = 16

/** How many agents were freed. @throws LeaseFault if the leases cannot be read; the signal's reason. */
export async function endOrphans(admission: HostAdmission, options: EndOrphansOptions): Promise<number> {
  const { store } = admission
  const ours = store.list().filter((lease) => isOrphan(lease, store.instance.channel))
  let freed = 0
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let next = ours.pop(); next !== undefined; next = ours.pop()) {
      if (await free(admission, { uid: next.uid }, options)) freed += 1
    }
  })
  await Promise.all(workers)
  return freed
}

function isOrphan({ state, holder }: ListedLease, channel: string): boolean {
  return state === 'dead' && holder.place === 'this-host' && holder.channel === channel
}

/** What another claims meanwhile is in good hands. */
async function free(
  admission: HostAdmission,
  agent: AgentRef,
  { signal, onFault }: EndOrphansOptions
): Promise<boolean> {
  try {
    const result = await admission.acquire(agent, { blockId: randomUUID(), signal })
    if (result.kind !== 'granted') {
      if (result.refusal.kind !== 'held') onFault(agent, result.refusal.message)
      return false
    }
    await result.lease.release()
    return true
  } catch (fault) {
    signal.throwIfAborted()
    onFault(agent, fault)
    return false
  }
}
