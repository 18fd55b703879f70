/**
 * Leases as builds keep them that came before ours: judged by the wall clock, a dead holder told by its pid and a start time that
 * moves with that clock, none of our fields. The oldest have no claim id either. They look at no process of a claim.
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, openSync, readFileSync, unlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Clock } from '@agentmux/lease-model'
import { type Flock, makeFolders, replaceFile, startSeconds, tryLock } from './older-files.js'

const TTL_MS = 15_000

export interface OlderRecord {
  readonly instance_id: string
  readonly owner_boot_id: string
  readonly block_id: string
  readonly pid: number
  readonly acquired_at_ms: number
  readonly renewed_at_ms: number
  readonly epoch: number
  readonly hostname: string
  readonly pid_start_s: number
  readonly channel: string
  readonly claim_id?: string
}

export interface OlderLeasesOptions {
  readonly folder: string
  readonly channel: string
  readonly version: string
  readonly clock: Clock
  readonly hasClaimIds: boolean
  readonly flock: Flock
}

export class OlderLeases {
  readonly owner = randomUUID()
  readonly hostname = hostname().trim().toLowerCase()
  readonly #options: OlderLeasesOptions

  constructor(options: OlderLeasesOptions) {
    this.#options = options
  }

  /** Undefined where somebody else has it. */
  claim(key: string, block: string): Promise<OlderRecord | undefined> {
    return this.#locked(key, () => {
      const before = this.read(key)
      const isMine = before?.owner_boot_id === this.owner
      if (before !== undefined && (isMine ? before.block_id !== block : true) && !this.#isOver(before))
        return undefined
      const epoch = isMine ? before.epoch : Math.max(this.#counter(key), before?.epoch ?? 0) + 1
      if (!isMine) replaceFile(`${this.#stem(key)}.epoch`, `${epoch}\n`)
      const now = Date.now()
      const record: OlderRecord = {
        instance_id: key,
        owner_boot_id: this.owner,
        block_id: block,
        pid: process.pid,
        acquired_at_ms: isMine ? before.acquired_at_ms : now,
        renewed_at_ms: now,
        epoch,
        hostname: this.hostname,
        pid_start_s: startSeconds(process.pid) ?? 0,
        channel: this.#options.channel,
        ...(this.#options.hasClaimIds ? { claim_id: randomUUID() } : {})
      }
      this.#write(key, record)
      return record
    })
  }

  /** False where it is somebody else's by now. */
  renew(mine: OlderRecord): Promise<boolean> {
    return this.#locked(mine.instance_id, () => {
      const now = this.read(mine.instance_id)
      if (!matches(now, mine)) return false
      this.#write(mine.instance_id, { ...now, renewed_at_ms: Date.now() })
      return true
    })
  }

  release(mine: OlderRecord): Promise<void> {
    return this.#locked(mine.instance_id, () => {
      if (matches(this.read(mine.instance_id), mine)) unlinkSync(this.#path(mine.instance_id))
    })
  }

  read(key: string): OlderRecord | undefined {
    if (!existsSync(this.#path(key))) return undefined
    try {
      return JSON.parse(readFileSync(this.#path(key), 'utf8')) as OlderRecord
    } catch {
      // Unreadable: held by nobody knows whom, until it has not been rewritten for a TTL.
      return UNREADABLE
    }
  }

  #isOver(record: OlderRecord): boolean {
    if (record === UNREADABLE) return false
    return Date.now() - record.renewed_at_ms >= TTL_MS || this.#isDead(record)
  }

  #isDead({ hostname: where, pid, pid_start_s }: OlderRecord): boolean {
    if (where !== this.hostname || pid === 0) return false
    const started = startSeconds(pid)
    return started === undefined || (pid_start_s > 0 && pid_start_s !== started)
  }

  #counter(key: string): number {
    const path = `${this.#stem(key)}.epoch`
    return existsSync(path) ? Number(readFileSync(path, 'utf8')) || 0 : 0
  }

  #write(key: string, record: OlderRecord): void {
    replaceFile(this.#path(key), `${JSON.stringify(record, undefined, 2)}\n`)
  }

  /** They wait for the lock inside the kernel; here, a little at a time. */
  async #locked<T>(key: string, section: () => T): Promise<T> {
    makeFolders(this.#options.folder)
    const descriptor = openSync(`${this.#stem(key)}.lock`, constants.O_WRONLY | constants.O_CREAT)
    try {
      while (!tryLock(this.#options.flock, descriptor)) await this.#options.clock.sleep(1)
      return section()
    } finally {
      closeSync(descriptor)
    }
  }

  #stem(key: string): string {
    return `${this.#options.folder}/${key}`
  }

  #path(key: string): string {
    return `${this.#stem(key)}.lease.json`
  }
}

const UNREADABLE: OlderRecord = {
  instance_id: '',
  owner_boot_id: '',
  block_id: '',
  pid: 0,
  acquired_at_ms: 0,
  renewed_at_ms: 0,
  epoch: 0,
  hostname: '',
  pid_start_s: 0,
  channel: ''
}

function matches(now: OlderRecord | undefined, mine: OlderRecord): now is OlderRecord {
  if (now === undefined || now.owner_boot_id !== mine.owner_boot_id || now.block_id !== mine.block_id)
    return false
  return mine.claim_id === undefined || now.claim_id === undefined || now.claim_id === mine.claim_id
}
