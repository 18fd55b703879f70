/** Lease files as this machine would write them, for tests that put one in place. */
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { bootMs } from './processes.js'
import type { Scene } from './scene.js'

export type RecordFields = Readonly<Record<string, unknown>>

/** A pid that no process has: above what Linux gives. */
export const NO_PID = 2 ** 22 + 1

/** What every build writes. An hour old, by a holder that is gone. */
export function oldRecord(scene: Scene, fields: RecordFields = {}): RecordFields {
  const longAgoMs = Date.now() - 3_600_000
  return {
    instance_id: scene.uid,
    owner_boot_id: 'b6f0c1de-0000-4000-8000-000000000001',
    block_id: 'b6f0c1de-0000-4000-8000-000000000002',
    session_id: null,
    pid: NO_PID,
    acquired_at_ms: longAgoMs,
    renewed_at_ms: longAgoMs,
    epoch: 7,
    hostname: hostname().trim().toLowerCase(),
    pid_start_s: 0,
    channel: 'stable',
    version: '0.44.1',
    ...fields
  }
}

/** With our own fields: renewed an hour ago by this machine's boot clock, or a second after boot. */
export function record(scene: Scene, fields: RecordFields = {}): RecordFields {
  return oldRecord(scene, {
    claim_id: 'b6f0c1de-0000-4000-8000-00000000000c',
    host_boot_id: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
    pid_ns: namespaceOf('pid'),
    time_ns: namespaceOf('time'),
    pid_start_ticks: 1,
    renewed_boot_ms: Math.max(1_000, Math.round(bootMs()) - 3_600_000),
    ttl_ms: 15_000,
    driver_pid: 0,
    driver_start_ticks: 0,
    ...fields
  })
}

/** Puts a lease file in place, as if its holder had claimed before with epoch 7. */
export function putLease(scene: Scene, content: RecordFields | string | Uint8Array): void {
  mkdirSync(scene.leases, { recursive: true, mode: 0o700 })
  const text =
    typeof content === 'string' || content instanceof Uint8Array
      ? content
      : `${JSON.stringify(content, undefined, 2)}\n`
  writeFileSync(scene.leaseFile(), text)
  writeFileSync(`${scene.leases}/${scene.uid}.epoch`, '7\n')
  writeFileSync(`${scene.leases}/${scene.uid}.lock`, '')
}

function namespaceOf(kind: 'pid' | 'time'): number {
  return Number(/\[(\d+)\]/.exec(readlinkSync(`/proc/self/ns/${kind}`))?.[1])
}
