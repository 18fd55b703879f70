/**
 * Leases on files under flock: at most one holder per key among all processes that use the same folder and keep the
 * rules of this format. Claims are durable before they are granted; renewals are one write in place. It does not stop
 * a process that ignores its loss: that is the caller's part (fence by epoch, end the processes of old claims).
 */
import { randomUUID } from 'node:crypto'
import { closeSync, constants, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import {
  type Clock,
  createSystemClock,
  DEFAULT_TTL_MS,
  type Holder,
  type HostIdentity,
  type InstanceIdentity,
  leaseTimings,
  unnamedHolder
} from '@agentmux/lease-model'
import { nextEpoch, readEpoch, writeEpoch } from './epoch-file.js'
import { FileLock } from './file-lock.js'
import { createInstanceIdentity, readHostIdentity } from './host-facts.js'
import { judge, judgeByWatching, recordTtlMs, sameHost, type Verdict } from './judgement.js'
import { createFolder, createKey, refuseOtherCase } from './key-creation.js'
import type {
  ClaimRequest,
  ClaimResult,
  EndingResult,
  Lease,
  ListedLease,
  LookResult,
  Loss,
  PreviousClaim,
  ReleaseResult,
  RenewResult,
  VerifyResult,
  WhileHeldResult
} from './lease.js'
import { errnoOf, ioFault } from './lease-fault.js'
import { leaseKey } from './lease-key.js'
import { LEASE_SUFFIX, type LeasePaths, leasePaths, leasesFolder } from './lease-paths.js'
import { formatRecord, formatToLength, holderOf, type LeaseRecord, parseRecord } from './lease-record.js'
import type { TryFlock } from './native-flock.js'
import { Observations } from './observations.js'
import { processState } from './process-state.js'
import { type ReleaseWatchOptions, watchForRelease } from './release-watch.js'
import { readSettled } from './settled-read.js'
import {
  fileIdentity,
  MISSING,
  missingOrOdd,
  readDescriptor,
  readText,
  removeFile,
  replaceFile,
  SAFE,
  syncFolder
} from './small-file.js'

export interface LeaseStoreOptions {
  /** Who claims. Share one per process: two stores with the same instance are the same owner. */
  readonly instance?: InstanceIdentity
  readonly host?: HostIdentity
  readonly clock?: Clock
  /** The TTL of leases claimed here, milliseconds. Older builds apply 15,000 to every lease. */
  readonly ttlMs?: number
  /** How long claim, renew, verify and release try for the key's lock, milliseconds. */
  readonly lockWaitMs?: number
  /** Called before the place of a dead or expired claim is taken, to end its processes (R12). */
  readonly endPrevious?: (previous: PreviousClaim, signal: AbortSignal | undefined) => Promise<EndingResult>
  /** The lock call; replaced in tests of file systems without flock. */
  readonly flock?: TryFlock
}

/** A lock is held for a fraction of a millisecond; whoever holds it this long is stopped, or its disk is. */
const LOCK_WAIT_MS = 3_000

/** What a claim found under the lock and could not finish there. */
type Pending = { readonly kind: 'end-first'; readonly previous: PreviousClaim }

export class LeaseStore {
  readonly instance: InstanceIdentity
  readonly host: HostIdentity
  readonly clock: Clock
  readonly ttlMs: number
  /** The folder with the lease files. */
  readonly folder: string
  readonly #lock: FileLock
  readonly #lockWaitMs: number
  readonly #endPrevious: LeaseStoreOptions['endPrevious']
  readonly #observations = new Observations()
  readonly #checkedCase = new Set<string>()
  /** The file text each live lease was last seen with: equal text needs no parsing. */
  readonly #texts = new WeakMap<Lease, string>()

  /**
   * Opens the leases under a registry root. Touches nothing: the folder is made, and the file system's flock
   * tested, by the first claim.
   */
  static open(registryRoot: string, options: LeaseStoreOptions = {}): LeaseStore {
    return new LeaseStore(registryRoot, options)
  }

  private constructor(registryRoot: string, options: LeaseStoreOptions) {
    if (typeof registryRoot !== 'string' || registryRoot === '') {
      throw new TypeError('the registry root must be a path')
    }
    this.folder = leasesFolder(registryRoot)
    this.instance = options.instance ?? createInstanceIdentity({ channel: '', version: '' })
    this.host = options.host ?? readHostIdentity()
    this.clock = options.clock ?? createSystemClock()
    this.ttlMs = leaseTimings(options.ttlMs ?? DEFAULT_TTL_MS).ttlMs
    this.#lockWaitMs = options.lockWaitMs ?? LOCK_WAIT_MS
    this.#endPrevious = options.endPrevious
    this.#lock = new FileLock(options.flock)
  }

  /** Where an agent's lease file is, or would be. */
  pathOf(uid: string): string {
    return leasePaths(this.folder, leaseKey(uid)).lease
  }

  /**
   * Takes the lease if nobody holds it. On `granted` the new epoch and record are on the disk.
   *
   * @throws LeaseFault if the files cannot be used; TypeError or RangeError for what cannot be a UID; the signal's
   * reason. Nothing is held then.
   */
  async claim(request: ClaimRequest): Promise<ClaimResult> {
    const key = leaseKey(request.agent.uid)
    const paths = leasePaths(this.folder, key)
    let endedClaimId: string | undefined
    for (;;) {
      const outcome = await this.#lock.run(
        paths.lock,
        () => this.#claimLocked(key, paths, request, endedClaimId),
        {
          waitMs: this.#lockWaitMs,
          signal: request.signal,
          create: () => {
            createFolder(this.folder)
            createKey(key, paths)
          }
        }
      )
      if (outcome.kind !== 'end-first') return outcome
      // The lock is not held while processes are ended; what is found afterwards is judged anew.
      const ending = (await this.#endPrevious?.(outcome.previous, request.signal)) ?? { kind: 'ended' }
      if (ending.kind === 'remaining') {
        return { kind: 'refused', holder: outcome.previous.holder, remaining: ending.processes }
      }
      endedClaimId = outcome.previous.claimId
    }
  }

  /**
   * Says again that the lease is held: one write in place, not synced. `driver` records the process that drives the
   * agent.
   *
   * @throws LeaseFault; the lease is then neither confirmed nor lost.
   */
  async renew(lease: Lease, driver?: { pid: number; startTicks: number }): Promise<RenewResult> {
    const paths = leasePaths(this.folder, lease.uid)
    return this.#run(paths, () => this.#renewLocked(paths, lease, driver))
  }

  /** Whether the lease is still ours. Expired and not taken by anybody is still ours. Writes nothing. */
  async verify(lease: Lease): Promise<VerifyResult> {
    const paths = leasePaths(this.folder, lease.uid)
    return this.#run(paths, () => {
      const loss = this.#lossOf(lease, readText(paths.lease))
      return loss === undefined ? { kind: 'held' } : { kind: 'lost', loss }
    })
  }

  /**
   * Runs a short synchronous section under the key's lock, and only if the lease is still ours: nobody can claim it
   * between the check and the end of the section. For starting the process that will drive the agent.
   */
  async whileHeld<T>(lease: Lease, section: () => T): Promise<WhileHeldResult<T>> {
    const paths = leasePaths(this.folder, lease.uid)
    return this.#run(paths, () => {
      const loss = this.#lossOf(lease, readText(paths.lease))
      return loss === undefined ? { kind: 'held', value: section() } : { kind: 'lost', loss }
    })
  }

  /** Gives the lease up if it is still ours. Never removes another claim's lease. */
  async release(lease: Lease): Promise<ReleaseResult> {
    const paths = leasePaths(this.folder, lease.uid)
    if (statSync(this.folder, { throwIfNoEntry: false }) === undefined) return { kind: 'not-held' }
    return this.#run(paths, () => {
      if (this.#lossOf(lease, readText(paths.lease)) !== undefined) return { kind: 'not-held' }
      removeFile(paths.lease)
      this.#texts.delete(lease)
      return { kind: 'released' }
    })
  }

  /** Who holds the agent, unless it is `ownerBootId`. Takes no lock. */
  liveHolderOtherThan(uid: string, ownerBootId: string): LookResult {
    const key = leaseKey(uid)
    return this.#look(key, ownerBootId)
  }

  /** Every lease in the folder, by UID. Takes no lock; a folder that does not exist holds none. */
  list(): ListedLease[] {
    const leases: ListedLease[] = []
    for (const key of this.#keys()) {
      const listed = this.#listed(key)
      if (listed !== undefined) leases.push(listed)
    }
    return leases
  }

  /**
   * Resolves once a claim may succeed: the lease was released, or its holder died or let it expire. Woken by the
   * change of the file; a slow poll stands behind that. Others may be faster: claim, and wait again.
   *
   * @throws the signal's reason when aborted; LeaseFault `io`.
   */
  async waitForRelease(uid: string, options: ReleaseWatchOptions = {}): Promise<void> {
    const key = leaseKey(uid)
    await watchForRelease(leasePaths(this.folder, key).lease, () => this.#look(key, ''), options)
  }

  #run<T>(paths: LeasePaths, section: () => T): Promise<T> {
    return this.#lock.run(paths.lock, section, {
      waitMs: this.#lockWaitMs,
      create: () => createKey(keyOf(paths), paths)
    })
  }

  #claimLocked(
    key: string,
    paths: LeasePaths,
    request: ClaimRequest,
    endedClaimId: string | undefined
  ): ClaimResult | Pending {
    this.#refuseOtherCaseOnce(key)
    const file = readText(paths.lease)
    if (file === MISSING) return this.#grant(key, paths, request, undefined, undefined)
    const record = file.kind === 'text' ? parseRecord(key, file.text) : undefined
    if (record === undefined) {
      const verdict = judgeByWatching(this.ttlMs, this.#observe(key, paths.lease, file))
      if (verdict.kind === 'over') return this.#grant(key, paths, request, undefined, undefined)
      return refusedOrUnknown(verdict, unnamedHolder('this-host'))
    }
    const verdict = this.#judge(key, paths.lease, file, record)
    const holder = holderOf(record, sameHost(record, this.host))
    if (record.owner_boot_id === this.instance.ownerBootId) {
      if (record.block_id === '' || record.block_id === request.blockId) {
        const previous: PreviousClaim = { ...previousOf(key, record, holder), why: 'reclaimed' }
        return this.#grant(key, paths, request, record, previous)
      }
      if (verdict.kind !== 'over') return { kind: 'refused', holder }
    }
    if (verdict.kind !== 'over') return refusedOrUnknown(verdict, holder)
    const previous: PreviousClaim = { ...previousOf(key, record, holder), why: verdict.why }
    const mustEnd = this.#endPrevious !== undefined && record.claim_id !== ''
    if (mustEnd && record.claim_id !== endedClaimId) return { kind: 'end-first', previous }
    return this.#grant(key, paths, request, record, previous)
  }

  #grant(
    key: string,
    paths: LeasePaths,
    request: ClaimRequest,
    replaced: LeaseRecord | undefined,
    previous: PreviousClaim | undefined
  ): ClaimResult {
    const reclaimed = previous?.why === 'reclaimed' && replaced !== undefined
    const wallMs = this.clock.wallMs()
    let epoch = replaced?.epoch ?? 0
    if (!reclaimed || epoch === 0) {
      epoch = nextEpoch({
        counter: readEpoch(paths.epoch),
        lease: epoch,
        floor: request.epochFloor ?? 0,
        wallMs
      })
      // Before the lease: an epoch that was given is never given again, even if the next line fails.
      writeEpoch(paths.epoch, epoch)
    }
    const renewedBootMs = this.clock.bootMs()
    const record = {
      ...this.#newRecord(key, request, wallMs, renewedBootMs),
      acquired_at_ms: reclaimed ? replaced.acquired_at_ms : wallMs,
      epoch
    }
    const text = formatRecord(record)
    replaceFile(paths.lease, text)
    syncFolder(this.folder)
    this.#observations.forget(key)
    const lease = leaseOf(record)
    this.#texts.set(lease, text)
    return previous === undefined ? { kind: 'granted', lease } : { kind: 'granted', lease, previous }
  }

  #newRecord(key: string, request: ClaimRequest, wallMs: number, bootMs: number): LeaseRecord {
    const { host, instance } = this
    return {
      instance_id: key,
      owner_boot_id: instance.ownerBootId,
      block_id: request.blockId,
      session_id: request.sessionId ?? null,
      // Outside the first pid namespace our pid would name somebody else to an older build on the host.
      pid: host.initialPidNs ? instance.pid : 0,
      acquired_at_ms: wallMs,
      renewed_at_ms: wallMs,
      epoch: 0,
      hostname: host.hostname,
      // Older builds compare it exactly, and it moves with the clock: 0 keeps them from a false death.
      pid_start_s: 0,
      channel: instance.channel,
      version: instance.version,
      claim_id: randomUUID(),
      host_boot_id: host.hostBootId,
      pid_ns: host.pidNs,
      time_ns: host.timeNs,
      pid_start_ticks: instance.pidStartTicks,
      renewed_boot_ms: bootMs,
      ttl_ms: this.ttlMs,
      driver_pid: 0,
      driver_start_ticks: 0
    }
  }

  #renewLocked(
    paths: LeasePaths,
    lease: Lease,
    driver: { pid: number; startTicks: number } | undefined
  ): RenewResult {
    let descriptor: number
    try {
      descriptor = openSync(paths.lease, constants.O_RDWR | SAFE)
    } catch (error) {
      const loss = this.#lossOf(lease, missingOrOdd(paths.lease, error))
      return { kind: 'lost', loss: loss ?? { why: 'missing' } }
    }
    try {
      const file = readDescriptor(descriptor)
      const loss = this.#lossOf(lease, file)
      const record = file.kind === 'text' ? parseRecord(lease.uid, file.text) : undefined
      if (loss !== undefined || record === undefined || file.kind !== 'text') {
        return { kind: 'lost', loss: loss ?? { why: 'unreadable' } }
      }
      record.renewed_at_ms = this.clock.wallMs()
      record.renewed_boot_ms = this.clock.bootMs()
      if (driver !== undefined) {
        record.driver_pid = driver.pid
        record.driver_start_ticks = driver.startTicks
      }
      const bytes = formatToLength(record, Buffer.byteLength(file.text))
      let text: string
      if (bytes === undefined) {
        text = formatRecord(record)
        replaceFile(paths.lease, text)
      } else {
        text = bytes.toString()
        const written = writeSync(descriptor, bytes, 0, bytes.length, 0)
        if (written < bytes.length) writeSync(descriptor, bytes, written, bytes.length - written, written)
      }
      const renewed = leaseOf(record)
      this.#texts.set(renewed, text)
      return { kind: 'renewed', lease: renewed }
    } catch (error) {
      throw ioFault('renew', paths.lease, error)
    } finally {
      closeSync(descriptor)
    }
  }

  /** Why a lease is not what stands in its file; undefined if it is. */
  #lossOf(lease: Lease, file: ReturnType<typeof readText>): Loss | undefined {
    if (file.kind === 'missing') return { why: 'missing' }
    if (file.kind === 'odd') return { why: 'unreadable' }
    if (file.text === this.#texts.get(lease)) return undefined
    const record = parseRecord(lease.uid, file.text)
    if (record === undefined) return { why: 'unreadable' }
    const sameOwner = record.owner_boot_id === lease.ownerBootId
    const sameBlock = record.block_id === '' || record.block_id === lease.blockId
    const sameClaim = record.claim_id === '' || record.claim_id === lease.claimId
    if (sameOwner && sameBlock && sameClaim) {
      this.#texts.set(lease, file.text)
      return undefined
    }
    const holder = holderOf(record, sameHost(record, this.host))
    return { why: sameOwner ? 'reclaimed-here' : 'taken', holder }
  }

  #look(key: string, ownerBootId: string): LookResult {
    const path = leasePaths(this.folder, key).lease
    const file = readSettled(path)
    if (file === MISSING) {
      this.#observations.forget(key)
      return { kind: 'free' }
    }
    const record = file.kind === 'text' ? parseRecord(key, file.text) : undefined
    if (record === undefined) {
      const verdict = judgeByWatching(this.ttlMs, this.#observe(key, path, file))
      const holder = unnamedHolder('this-host')
      return verdict.kind === 'over' ? { kind: 'over', holder, why: verdict.why } : lookOf(verdict, holder)
    }
    if (ownerBootId !== '' && record.owner_boot_id === ownerBootId) return { kind: 'free' }
    const verdict = this.#judge(key, path, file, record)
    const holder = holderOf(record, sameHost(record, this.host))
    return verdict.kind === 'over' ? { kind: 'over', holder, why: verdict.why } : lookOf(verdict, holder)
  }

  #judge(key: string, path: string, file: ReturnType<typeof readText>, record: LeaseRecord): Verdict {
    return judge(record, {
      host: this.host,
      wallMs: this.clock.wallMs(),
      bootMs: this.clock.bootMs(),
      processState,
      observe: () => this.#observe(key, path, file)
    })
  }

  #observe(key: string, path: string, file: ReturnType<typeof readText>) {
    const stats = statSync(path, { throwIfNoEntry: false })
    const text = file.kind === 'text' ? file.text : `${file.kind} ${stats?.size} ${stats?.mtimeMs}`
    const fingerprint = `${stats === undefined ? '' : fileIdentity(stats)} ${text}`
    return this.#observations.look(key, fingerprint, this.clock.bootMs())
  }

  #listed(key: string): ListedLease | undefined {
    const path = leasePaths(this.folder, key).lease
    const file = readSettled(path)
    if (file === MISSING) return undefined
    const record = file.kind === 'text' ? parseRecord(key, file.text) : undefined
    if (record === undefined) {
      const holder = unnamedHolder('this-host')
      return { uid: key, state: 'unreadable', holder, renewedAtMs: 0, driverPid: 0, path }
    }
    const verdict = this.#judge(key, path, file, record)
    const state = verdict.kind === 'over' ? verdict.why : verdict.kind === 'live' ? 'held' : 'unknown'
    return {
      uid: key,
      state,
      holder: holderOf(record, sameHost(record, this.host)),
      renewedAtMs: record.renewed_at_ms,
      driverPid: record.driver_pid,
      path
    }
  }

  #keys(): string[] {
    let names: string[]
    try {
      names = readdirSync(this.folder)
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return []
      throw ioFault('read the folder', this.folder, error)
    }
    return names
      .filter((name) => name.endsWith(LEASE_SUFFIX))
      .map((name) => name.slice(0, -LEASE_SUFFIX.length))
      .sort()
  }

  /** Where the file system itself ignores letter case, opening the other key's files would succeed. */
  #refuseOtherCaseOnce(key: string): void {
    if (process.platform === 'linux' || this.#checkedCase.has(key)) return
    refuseOtherCase(key, this.folder)
    this.#checkedCase.add(key)
  }
}

function keyOf(paths: LeasePaths): string {
  const name = paths.lease.slice(0, -LEASE_SUFFIX.length)
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1)
}

function leaseOf(record: LeaseRecord): Lease {
  return {
    uid: record.instance_id,
    ownerBootId: record.owner_boot_id,
    blockId: record.block_id,
    claimId: record.claim_id,
    epoch: record.epoch,
    acquiredAtMs: record.acquired_at_ms,
    ttlMs: recordTtlMs(record),
    renewedBootMs: record.renewed_boot_ms
  }
}

function previousOf(key: string, record: LeaseRecord, holder: Holder) {
  return { uid: key, claimId: record.claim_id, epoch: record.epoch, holder }
}

function refusedOrUnknown(verdict: Exclude<Verdict, { kind: 'over' }>, holder: Holder): ClaimResult {
  if (verdict.kind === 'live') return { kind: 'refused', holder }
  return { kind: 'unknown', holder, retryAfterMs: verdict.retryAfterMs }
}

function lookOf(verdict: Exclude<Verdict, { kind: 'over' }>, holder: Holder): LookResult {
  if (verdict.kind === 'live') return { kind: 'held', holder }
  return { kind: 'unknown', holder, retryAfterMs: verdict.retryAfterMs }
}
