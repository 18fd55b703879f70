/** The processes of a host that carry a claim in their environment. */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'

export function carriersOf(host: Host, claimId: string): Process[] {
  const carriers: Process[] = []
  for (const process of host.processes.values()) {
    if (process.alive && process.environment.AGENTMUX_CLAIM_ID === claimId) carriers.push(process)
  }
  return carriers
}
