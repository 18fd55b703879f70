/** Reads, once, which machine, namespaces and process this is. Linux has all of it; elsewhere the unknown is 0 or ''. */
import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { type HostIdentity, type InstanceIdentity, leaseHostname } from '@agentmux/lease-model'
import { processState } from './process-state.js'

/** The kernel gives its first pid namespace this inode at every boot. */
const INITIAL_PID_NAMESPACE = 0xeffffffc

export function readHostIdentity(): HostIdentity {
  const pidNs = namespaceInode('pid')
  return {
    hostname: leaseHostname(hostname()),
    hostBootId: bootId(),
    pidNs,
    timeNs: namespaceInode('time'),
    initialPidNs: process.platform === 'linux' ? pidNs === INITIAL_PID_NAMESPACE : true
  }
}

/** A new owner of leases: call it once per process start and share the result. */
export function createInstanceIdentity(options: { channel: string; version: string }): InstanceIdentity {
  const state = processState(process.pid)
  return {
    ownerBootId: randomUUID(),
    channel: options.channel,
    version: options.version,
    pid: process.pid,
    pidStartTicks: state.kind === 'alive' ? state.startTicks : 0
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
