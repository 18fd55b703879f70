/**
 * Leases on files under flock: at most one holder per key among all processes that use the same folder and keep the
 * rules of this format. Claims are durable before they are granted; renewals are one write in place. It does not stop
 * a process that ignores its loss: that is the caller's part (fence by epoch, end the processes of old claims).
 */
import { resolve } from 'node:path'
import {
  type Clock,
  createSystemClock,
  DEFAULT_TTL_MS,
  type HostIdentity,
  type InstanceIdentity,
  leaseTimings
} from '@agentmux/lease-model'
import { checkDriver, checkLockWait } from './arguments.js'
import type { Claimer } from './claim.js'
import { Claiming } from './claiming.js'
import { removeFile } from './durable-file.js'
import { FileLock } from './file-lock.js'
import { createFolder } from './folder-creation.js'
import { createInstanceIdentity, readHostIdentity } from './host-facts.js'
import { recreateLock } from './key-creation.js'
import type {
  ClaimRequest,
  ClaimResult,
  Driver,
  Lease,
  ListedLease,
  LookResult,
  Loss,
  ReleaseResult,
  RenewResult,
  VerifyResult,
  WhileHeldResult
} from './lease.js'
import { LeaseFault } from './lease-fault.js'
import { LeaseFolder, type LeasePaths, leasesFolder } from './lease-paths.js'
import { LeaseSight } from './lease-sight.js'
import { type LeaseStoreOptions, LOCK_WAIT_MS } from './lease-store-options.js'
import { listLeases } from './listing.js'
import { look } from './look.js'
import { lossOf } from './loss.js'
import { tryFlock } from './native-flock.js'
import { type ReleaseWatchOptions, watchForRelease } from './release-watch.js'
import { renewUnderLock } from './renewal.js'

const HELD: VerifyResult = { kind: 'held' }
const NOT_HELD: ReleaseResult = { kind: 'not-held' }
const GONE: { kind: 'lost'; loss: Loss } = { kind: 'lost', loss: { why: 'missing' } }

export class LeaseStore {
  readonly instance: InstanceIdentity
  readonly host: HostIdentity
  readonly clock: Clock
  readonly ttlMs: number
  /** The folder with the lease files. */
  readonly folder: string
  readonly #places: LeaseFolder
  readonly #lock: FileLock
  readonly #lockWaitMs: number
  readonly #eyes: LeaseSight
  readonly #claimer: Claimer
  readonly #claiming: Claiming

  /**
   * Opens the leases under a registry root. Touches nothing: the folder is made, and the file system's flock
   * tested, by the first claim.
   *
   * @throws TypeError or RangeError for an option that cannot be.
   */
  static open(registryRoot: string, options: LeaseStoreOptions = {}): LeaseStore {
    return new LeaseStore(registryRoot, options)
  }

  private constructor(registryRoot: string, options: LeaseStoreOptions) {
    if (typeof registryRoot !== 'string' || registryRoot === '' || registryRoot.includes('\0')) {
      throw new TypeError('the registry root must be a path')
    }
    // A later change of the working directory must not change which leases these are.
    this.folder = leasesFolder(resolve(registryRoot))
    this.instance = options.instance ?? createInstanceIdentity({ channel: '', version: '' })
    this.host = options.host ?? readHostIdentity()
    this.clock = options.clock ?? createSystemClock()
    this.ttlMs = leaseTimings(options.ttlMs ?? DEFAULT_TTL_MS).ttlMs
    this.#lockWaitMs = checkLockWait(options.lockWaitMs ?? LOCK_WAIT_MS)
    this.#lock = new FileLock(options.flock)
    this.#places = new LeaseFolder(this.folder)
    this.#eyes = new LeaseSight(this)
    const { instance, host, clock, ttlMs, folder } = this
    const endsPrevious = options.endPrevious !== undefined
    this.#claimer = { instance, host, clock, ttlMs, folder, eyes: this.#eyes, endsPrevious }
    this.#claiming = new Claiming({
      claimer: this.#claimer,
      places: this.#places,
      lock: this.#lock,
      lockWaitMs: this.#lockWaitMs,
      tryFlock: options.flock ?? tryFlock,
      endPrevious: options.endPrevious
    })
  }

  /** Where an agent's lease file is, or would be. */
  pathOf(uid: string): string {
    return this.#places.pathsOf(uid).lease
  }

  /**
   * Makes the folder as the first claim would, for whoever has something else to put beside the leases. One that is there
   * is left as it is.
   *
   * @throws LeaseFault `io`.
   */
  createFolder(): void {
    createFolder(this.folder)
  }

  /**
   * What is doubtful about the folder's file system (NFS, FUSE, …), for a warning; undefined if nothing is, or the folder
   * does not exist yet. Leases on a doubtful one are judged only by watching, so claims after a death take one TTL.
   */
  doubts(): string | undefined {
    return this.#eyes.doubts() || undefined
  }

  /**
   * Takes the lease if nobody holds it. On `granted` the new epoch and record are on the disk.
   *
   * @throws LeaseFault if the files cannot be used; TypeError or RangeError for what cannot be a UID; the signal's
   * reason. Nothing is held then.
   */
  claim(request: ClaimRequest): Promise<ClaimResult> {
    return this.#claiming.claim(request)
  }

  /**
   * Says again that the lease is held: one write in place, not synced. `driver` records the process that drives the
   * agent; without it the one recorded before stays.
   *
   * @throws LeaseFault; the lease is then neither confirmed nor lost. RangeError for a driver that cannot be.
   */
  async renew(lease: Lease, driver?: Driver): Promise<RenewResult> {
    checkDriver(driver)
    const paths = this.#places.pathsOf(lease.uid)
    return this.#underLock(paths, () => renewUnderLock(this.#claimer, paths, { lease, driver }), GONE)
  }

  /**
   * Whether the lease is still ours. Expired and not taken by anybody is still ours. Writes nothing.
   *
   * @throws LeaseFault; the lease is then neither confirmed nor lost.
   */
  async verify(lease: Lease): Promise<VerifyResult> {
    const paths = this.#places.pathsOf(lease.uid)
    return this.#underLock(paths, () => this.#verifyUnderLock(paths, lease), GONE)
  }

  /**
   * Runs a short synchronous section under the key's lock, and only if the lease is still ours: nobody can claim it
   * between the check and the end of the section. For starting the process that will drive the agent.
   *
   * @throws LeaseFault; whatever the section throws.
   */
  async whileHeld<T>(lease: Lease, section: () => T): Promise<WhileHeldResult<T>> {
    const paths = this.#places.pathsOf(lease.uid)
    const guarded = (): WhileHeldResult<T> => {
      const state = this.#verifyUnderLock(paths, lease)
      return state.kind === 'held' ? { kind: 'held', value: section() } : state
    }
    return this.#underLock(paths, guarded, GONE)
  }

  /**
   * Gives the lease up if it is still ours. Never removes another claim's lease.
   *
   * @throws LeaseFault; the lease may then still be there, and expires.
   */
  async release(lease: Lease): Promise<ReleaseResult> {
    const paths = this.#places.pathsOf(lease.uid)
    const section = (): ReleaseResult => {
      if (this.#verifyUnderLock(paths, lease).kind !== 'held') return NOT_HELD
      removeFile(paths.lease)
      this.#eyes.forget(paths.key)
      return { kind: 'released' }
    }
    return this.#underLock(paths, section, NOT_HELD)
  }

  /** Who holds the agent, unless it is `ownerBootId`. Takes no lock. @throws LeaseFault `io`. */
  liveHolderOtherThan(uid: string, ownerBootId: string): LookResult {
    return look(this.#eyes, this.#places.pathsOf(uid), ownerBootId)
  }

  /** Every lease in the folder, by UID. Takes no lock; a folder that does not exist holds none. @throws LeaseFault `io`. */
  list(): ListedLease[] {
    return listLeases(this.#eyes, this.#places)
  }

  /**
   * Resolves once a claim may succeed: the lease was released, or its holder died or let it expire. Woken by the
   * change of the file; a slow poll stands behind that. Others may be faster: claim, and wait again.
   *
   * @throws the signal's reason when aborted; LeaseFault `io`.
   */
  async waitForRelease(uid: string, options: ReleaseWatchOptions = {}): Promise<void> {
    const paths = this.#places.pathsOf(uid)
    const watched = { path: paths.lease, clock: this.clock, look: () => look(this.#eyes, paths, '') }
    await watchForRelease(watched, options)
  }

  #verifyUnderLock(paths: LeasePaths, lease: Lease): VerifyResult {
    const loss = lossOf(lease, this.#eyes.underLock(paths.key, paths.lease), this.#eyes)
    return loss === undefined ? HELD : { kind: 'lost', loss }
  }

  /** For whoever holds a lease already. `gone` is the answer where not even the folder is left. */
  async #underLock<T>(paths: LeasePaths, section: () => T, gone: T): Promise<T> {
    try {
      return await this.#lock.run(paths.lock, section, {
        waitMs: this.#lockWaitMs,
        create: () => recreateLock(paths.lock)
      })
    } catch (error) {
      if (error instanceof LeaseFault && error.errno === 'ENOENT' && error.path === paths.lock) return gone
      throw error
    }
  }
}
