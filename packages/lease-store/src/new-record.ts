/** The record that a claim writes: everything another process needs to judge its holder (R14). */
import type { Clock, HostIdentity, InstanceIdentity } from '@agentmux/lease-model'
import type { LeaseRecord } from './lease-record.js'
import { randomUuid } from './random-uuid.js'

export interface RecordSource {
  readonly instance: InstanceIdentity
  readonly host: HostIdentity
  readonly clock: Clock
  readonly ttlMs: number
}

export interface RecordContent {
  readonly key: string
  readonly blockId: string
  readonly sessionId: string | null
  readonly acquiredAtMs: number
  readonly wallMs: number
  readonly epoch: number
}

/** In the order of the format. The clock is read before anything is written: a lease may only look too old. */
export function newRecord(
  { instance, host, clock, ttlMs }: RecordSource,
  content: RecordContent
): LeaseRecord {
  return {
    instance_id: content.key,
    owner_boot_id: instance.ownerBootId,
    block_id: content.blockId,
    session_id: content.sessionId,
    // Outside the first pid namespace our pid would name somebody else to an older build on the host; for those who
    // share the namespace it stands at the end.
    pid: host.initialPidNs ? instance.pid : 0,
    acquired_at_ms: content.acquiredAtMs,
    renewed_at_ms: content.wallMs,
    epoch: content.epoch,
    hostname: host.hostname,
    // Older builds compare it exactly, and it moves with the clock: 0 keeps them from a false death.
    pid_start_s: 0,
    channel: instance.channel,
    version: instance.version,
    claim_id: randomUuid(),
    host_boot_id: host.hostBootId,
    pid_ns: host.pidNs,
    time_ns: host.timeNs,
    pid_start_ticks: instance.pidStartTicks,
    renewed_boot_ms: clock.bootMs(),
    ttl_ms: ttlMs,
    driver_pid: 0,
    driver_start_ticks: 0,
    ...(host.initialPidNs || host.pidNs === 0 ? {} : { pid_in_ns: instance.pid })
  }
}
