/** What is known, from outside, of one agent on one host: its lease file, its claims, its drivers. */
import type { Process } from '../kernel/process.js'

export interface LeaseText {
  /** Of the oldest builds, which have none: what tells their claims apart. */
  readonly claimId: string
  /** Written by a build that came before ours. */
  readonly older: boolean
  readonly owner: string
  readonly block: string
  readonly epoch: number
  readonly pid: number
  readonly startTicks: number
  readonly bootId: string
  readonly acquiredAtMs: number
  readonly renewedBootMs: number
  readonly ttlMs: number
}

export interface Claim {
  readonly lease: LeaseText
  readonly process: Process
  /** When it stood in the file: the end is open while it does. */
  readonly fromUs: number
  untilUs: number
  writtenUs: number
  removed: boolean
  /** An older build took its place, and with that the only trace of what ran under it. */
  lostToOlder: boolean
}

export class Seat {
  readonly uid: string
  readonly claims = new Map<string, Claim>()
  /** Processes that drive the agent, and the claims they carry. */
  readonly drivers = new Map<Process, string>()
  /** What callers were told: which owner and block have an epoch. */
  readonly granted = new Map<number, string>()
  highestGranted = 0
  /** In the record, as its file and the counter beside it say. */
  highestInRecord = 0
  lockedUs = 0
  heldForSinceUs = 0

  constructor(uid: string) {
    this.uid = uid
  }
}

/** Undefined for what cannot be read. */
export function leaseIn(data: Buffer | undefined): LeaseText | undefined {
  if (data === undefined) return undefined
  try {
    const value = JSON.parse(data.toString('utf8')) as Record<string, unknown>
    const older = value.host_boot_id === undefined
    if (typeof value.claim_id !== 'string' && !older) return undefined
    return {
      claimId: String(value.claim_id ?? `${value.owner_boot_id} ${value.block_id} ${value.epoch}`),
      older,
      owner: String(value.owner_boot_id),
      block: String(value.block_id),
      epoch: Number(value.epoch),
      pid: Number(value.pid),
      startTicks: Number(value.pid_start_ticks),
      bootId: String(value.host_boot_id),
      acquiredAtMs: Number(value.acquired_at_ms),
      renewedBootMs: Number(value.renewed_boot_ms),
      ttlMs: Number(value.ttl_ms)
    }
  } catch {
    return undefined
  }
}
