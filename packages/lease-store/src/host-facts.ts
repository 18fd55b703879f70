/** Reads, once, which machine, namespaces and process this is. Linux has all of it; elsewhere the unknown is 0 or ''. */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { type HostIdentity, type InstanceIdentity, leaseHostname } from '@agentmux/lease-model'
import { MAX_TEXT_CHARACTERS } from './lease-record.js'
import { ownStartTicks } from './process-state.js'
import { randomUuid } from './random-uuid.js'

/** The kernel gives its first pid namespace this inode at every boot. */
const INITIAL_PID_NAMESPACE = 0xeffffffc

export function readHostIdentity(): HostIdentity {
  const pidNs = namespaceInode('pid')
  return {
    hostname: leaseHostname(hostname()),
    hostBootId: bootId(),
    pidNs,
    timeNs: bootClockScope({
      pidNs,
      timeNs: namespaceInode('time'),
      uptimeMs: uptime() * 1_000,
      monotonicMs: Number(process.hrtime.bigint() / 1_000_000n)
    }),
    initialPidNs: process.platform === 'linux' ? pidNs === INITIAL_PID_NAMESPACE : true
  }
}

/**
 * The namespace within which boot times can be compared. Some containers (lxcfs) show their own age as the uptime, in
 * the host's time namespace: such an uptime is below the monotonic clock, which a real one never is, and it can only be
 * compared within the container, that is its pid namespace. Both are inode numbers of one kind; they never collide.
 */
export function bootClockScope(facts: {
  pidNs: number
  timeNs: number
  uptimeMs: number
  monotonicMs: number
}): number {
  if (process.platform !== 'linux') return 0
  return facts.uptimeMs + 1_000 < facts.monotonicMs ? facts.pidNs : facts.timeNs
}

/**
 * A new owner of leases: call it once per process start and share the result.
 *
 * @throws RangeError if channel or version is longer than a lease can say.
 */
export function createInstanceIdentity(options: { channel: string; version: string }): InstanceIdentity {
  for (const name of ['channel', 'version'] as const) {
    if (options[name].length > MAX_TEXT_CHARACTERS) {
      throw new RangeError(
        `the ${name} has ${options[name].length} characters, the limit is ${MAX_TEXT_CHARACTERS}`
      )
    }
  }
  return {
    ownerBootId: randomUuid(),
    channel: options.channel,
    version: options.version,
    pid: process.pid,
    pidStartTicks: ownStartTicks()
  }
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return ''
  }
}

function namespaceInode(name: 'pid' | 'time'): number {
  try {
    return Number(/\[(\d+)\]/.exec(readlinkSync(`/proc/self/ns/${name}`))?.[1] ?? 0)
  } catch {
    return 0
  }
}
