/**
 * Whether the holder in a lease file still counts (R3, R14). Pure: everything it knows is passed in. It never
 * trusts wall time to end a lease, and never a pid of another pid namespace.
 */
import { DEFAULT_TTL_MS, type HostIdentity, MAX_TTL_MS, MIN_TTL_MS } from '@agentmux/lease-model'
import { type LeaseRecord, ownerPid } from './lease-record.js'
import type { Observation } from './observations.js'
import type { ProcessState } from './process-state.js'

export type Verdict =
  | { readonly kind: 'live' }
  /** Provably dead, or not renewed for its TTL: may be claimed, once its claim's processes have ended. */
  | { readonly kind: 'over'; readonly why: 'dead' | 'expired' }
  /** Only watching can tell: undecided for another `retryAfterMs`, if the file does not change. */
  | { readonly kind: 'watch'; readonly retryAfterMs: number }

export interface Evidence {
  readonly host: HostIdentity
  readonly wallMs: number
  readonly bootMs: number
  /** On a doubtful file system two machines may pass for one: nothing counts but what was seen to change. */
  readonly watchOnly: boolean
  readonly processState: (pid: number) => ProcessState
  /** Asked only when the record's own times mean nothing here. */
  readonly observe: () => Observation
}

const LIVE: Verdict = { kind: 'live' }
const DEAD: Verdict = { kind: 'over', why: 'dead' }
const EXPIRED: Verdict = { kind: 'over', why: 'expired' }

/** Two processes may read the boot clock this far apart and still mean the same moment. */
const BOOT_CLOCK_SLACK_MS = 50

/** The TTL a record asks for; older builds use the default. Clamped, so that no record holds an agent for ever. */
export function recordTtlMs(record: LeaseRecord): number {
  if (record.ttl_ms === 0) return DEFAULT_TTL_MS
  return Math.min(Math.max(record.ttl_ms, MIN_TTL_MS), MAX_TTL_MS)
}

export function judge(record: LeaseRecord, evidence: Evidence): Verdict {
  if (isDead(record, evidence)) return DEAD
  const ttlMs = recordTtlMs(record)
  if (sharesBootClock(record, evidence)) {
    return evidence.bootMs - record.renewed_boot_ms >= ttlMs ? EXPIRED : LIVE
  }
  const wallAgeMs = evidence.wallMs - record.renewed_at_ms
  const verdict = judgeByWatching(ttlMs, evidence.observe())
  // It looks freshly renewed: refuse at once rather than make everybody watch. A wrong clock makes this last no
  // longer than one TTL, and only watching can ever end the lease.
  if (verdict.kind === 'watch' && wallAgeMs >= 0 && wallAgeMs < ttlMs) return LIVE
  return verdict
}

/** For a file that cannot be read, and a record whose times cannot: expired once unchanged for a TTL. */
export function judgeByWatching(ttlMs: number, seen: Observation): Verdict {
  if (seen.unchangedForMs >= ttlMs) return EXPIRED
  if (seen.changedSeen) return LIVE
  return { kind: 'watch', retryAfterMs: ttlMs - seen.unchangedForMs }
}

/** Whether the record was written on this boot of this machine, whatever the machine is called by now. */
export function sameBoot(record: LeaseRecord, host: HostIdentity): boolean {
  return record.host_boot_id !== '' && record.host_boot_id === host.hostBootId
}

/** Whether the record was written on this host, as far as names tell where boot ids cannot. */
export function sameHost(record: LeaseRecord, host: HostIdentity): boolean {
  return sameBoot(record, host) || (record.hostname !== '' && record.hostname === host.hostname)
}

function sharesBootClock(record: LeaseRecord, { host, bootMs, watchOnly }: Evidence): boolean {
  return (
    !watchOnly &&
    sameBoot(record, host) &&
    record.time_ns === host.timeNs &&
    record.renewed_boot_ms > 0 &&
    // Renewed in the future is damage, or forged: watch it instead.
    record.renewed_boot_ms <= bootMs + BOOT_CLOCK_SLACK_MS
  )
}

function isDead(record: LeaseRecord, { host, processState, watchOnly }: Evidence): boolean {
  const pid = ownerPid(record)
  if (pid === 0 || watchOnly) return false
  if (sameBoot(record, host)) {
    if (record.pid_ns === 0 || record.pid_ns !== host.pidNs) return false
    const state = processState(pid)
    if (state.kind === 'gone') return true
    // The ticks count from boot, and a time namespace has a boot of its own.
    if (record.time_ns !== host.timeNs) return false
    return record.pid_start_ticks > 0 && state.startTicks > 0 && state.startTicks !== record.pid_start_ticks
  }
  // An older build's record has no boot id and no namespace. That its pid is gone is proof only where all pids can
  // be seen. Its start time moves with the clock, so a different one proves nothing.
  if (record.host_boot_id !== '' || !host.initialPidNs) return false
  if (record.hostname === '' || record.hostname !== host.hostname) return false
  return processState(pid).kind === 'gone'
}
