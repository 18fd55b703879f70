/** Who a process is when it claims, for logs and for the sentences that others read. */
import type { HostIdentity, InstanceIdentity } from '@agentmux/lease-model'

export interface ClaimantInfo {
  readonly hostname: string
  readonly channel: string
  readonly version: string
  readonly pid: number
  readonly ownerBootId: string
}

export function claimantInfo(instance: InstanceIdentity, host: HostIdentity): ClaimantInfo {
  const { channel, version, pid, ownerBootId } = instance
  return { hostname: host.hostname, channel, version, pid, ownerBootId }
}
