/** Who takes part in a test: hosts, instances and stores that share a folder, all on one clock that a test moves. */
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { HostIdentity, InstanceIdentity } from '@agentmux/lease-model'
import { createManualClock, type ManualClock } from '@agentmux/lease-model/testing'
import {
  type ClaimRequest,
  type ClaimResult,
  createInstanceIdentity,
  type Lease,
  LeaseStore,
  type LeaseStoreOptions
} from '../../src/index.js'
import { temporaryFolder } from './folder.js'

export const UID = '7c0e2f4a-agent'
export const TTL_MS = 15_000
/** The system tells its uptime in hundredths of a second: so much later, a time has passed by anybody's reading. */
export const UPTIME_SLACK_MS = 20

/** The machine of the test: this process and its children are its processes. */
export const HERE: HostIdentity = {
  hostname: 'here',
  hostBootId: '11111111-1111-4111-8111-111111111111',
  pidNs: 4_026_531_836,
  timeNs: 4_026_531_834,
  initialPidNs: true
}

/** Another machine that uses the same folder. */
export const ELSEWHERE: HostIdentity = {
  ...HERE,
  hostname: 'elsewhere',
  hostBootId: '22222222-2222-4222-8222-222222222222'
}

export function instance(channel = 'stable'): InstanceIdentity {
  return createInstanceIdentity({ channel, version: '1.2.3' })
}

export interface Party {
  readonly root: string
  readonly clock: ManualClock
  /** A store on the folder; of an instance of its own unless one is given. */
  store(options?: LeaseStoreOptions): LeaseStore
  readonly files: Files
}

export function party(root = temporaryFolder()): Party {
  const clock = createManualClock()
  return {
    root,
    clock,
    store: (options = {}) => LeaseStore.open(root, { clock, host: HERE, instance: instance(), ...options }),
    files: new Files(`${root}/leases/${UID}`)
  }
}

/** The files of UID, as bytes. */
export class Files {
  readonly lease: string
  readonly lock: string
  readonly epoch: string

  constructor(stem: string) {
    this.lease = `${stem}.lease.json`
    this.lock = `${stem}.lock`
    this.epoch = `${stem}.epoch`
  }

  record(): Record<string, unknown> {
    return JSON.parse(readFileSync(this.lease, 'utf8'))
  }

  /** Changes fields as another build or a mishap would; `undefined` removes one. */
  edit(fields: Record<string, unknown>): void {
    writeFileSync(this.lease, `${JSON.stringify({ ...this.record(), ...fields }, undefined, 2)}\n`)
  }
}

export function request(fields: Partial<ClaimRequest> = {}): ClaimRequest {
  return { agent: { uid: UID }, blockId: 'block-1', ...fields }
}

/** The lease of a claim that must have been granted. */
export function granted(result: ClaimResult): Lease {
  if (result.kind !== 'granted') throw new Error(`the claim was ${result.kind}: ${JSON.stringify(result)}`)
  return result.lease
}

export async function claimed(store: LeaseStore, fields: Partial<ClaimRequest> = {}): Promise<Lease> {
  return granted(await store.claim(request(fields)))
}

/** What an older build writes: none of our fields. */
export function olderRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    instance_id: UID,
    owner_boot_id: randomUUID(),
    block_id: 'older-block',
    session_id: null,
    pid: 0,
    acquired_at_ms: 1_700_000_000_000,
    renewed_at_ms: 1_700_000_000_000,
    epoch: 4,
    hostname: 'here',
    pid_start_s: 1_699_000_000,
    channel: 'beta',
    version: '0.9.0',
    claim_id: randomUUID(),
    ...fields
  }
}
