/**
 * Runs a short synchronous section under flock on a key's lock file. The lock file is opened by path each time and
 * compared with the path after locking (R11); nothing here waits inside the kernel, so an abort or a bound always
 * ends a wait.
 */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errnoOf, ioFault, LeaseFault } from './lease-fault.js'
import { describeLockHolder } from './lock-holder.js'
import { type TryFlock, tryFlock } from './native-flock.js'
import { SAFE, sameFile } from './small-file.js'

export interface LockOptions {
  /** How long to go on trying, milliseconds. */
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
  /** Creates the lock file when it is missing; without it a missing file is a fault. */
  readonly create?: (path: string) => void
}

/** Waiting longer between tries starves against older builds, which queue in the kernel. */
const MAX_PAUSE_MS = 2
/** Tries that only let other work run in between. */
const EAGER_TRIES = 3

export class FileLock {
  readonly #tryFlock: TryFlock
  /** Whether the file system was seen to keep two openers apart. Asked once, of the first lock taken. */
  #proven = false

  constructor(flock: TryFlock = tryFlock) {
    this.#tryFlock = flock
  }

  /**
   * @throws the signal's reason when aborted; LeaseFault `lock-timeout` after `waitMs`, naming who has the lock;
   * `lock-unsupported` where flock fails or does nothing; `io`.
   */
  async run<T>(path: string, section: () => T, options: LockOptions): Promise<T> {
    options.signal?.throwIfAborted()
    const startedMs = performance.now()
    for (let attempt = 1; ; attempt++) {
      const descriptor = this.#open(path, options.create)
      try {
        for (; !this.#lock(path, descriptor); attempt++) {
          if (performance.now() - startedMs >= options.waitMs) throw lockTimeout(path, options.waitMs)
          await pause(attempt, options.signal)
        }
        if (stillNamed(path, descriptor)) return section()
      } finally {
        // Closing the only descriptor gives the lock up.
        closeSync(descriptor)
      }
      if (performance.now() - startedMs >= options.waitMs) throw lockTimeout(path, options.waitMs)
    }
  }

  #open(path: string, create: LockOptions['create']): number {
    try {
      return openSync(path, constants.O_RDWR | SAFE)
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT' || create === undefined) throw ioFault('open the lock', path, error)
    }
    create(path)
    try {
      return openSync(path, constants.O_RDWR | SAFE)
    } catch (error) {
      throw ioFault('open the lock', path, error)
    }
  }

  #lock(path: string, descriptor: number): boolean {
    try {
      if (!this.#tryFlock(descriptor)) return false
      if (!this.#proven) this.#prove(path, descriptor)
      return true
    } catch (error) {
      const errno = errnoOf(error)
      if (error instanceof LeaseFault || errno === '') throw error
      throw unsupported(path, `flock fails there (${errno})`, error)
    }
  }

  /** With the lock held, a second opener must be turned away; where it is not, flock is an empty gesture. */
  #prove(path: string, descriptor: number): void {
    const second = openSync(path, constants.O_RDWR | SAFE)
    try {
      if (!sameFile(descriptor, fstatSync(second))) return
      if (this.#tryFlock(second)) {
        throw unsupported(path, 'flock does nothing there: two openers got the same lock', undefined)
      }
      this.#proven = true
    } finally {
      closeSync(second)
    }
  }
}

function unsupported(path: string, reason: string, cause: unknown): LeaseFault {
  return new LeaseFault(
    `no lease can be held at ${path}: ${reason}. Put the shared folder on a local disk (AGENTMUX_SHARED_DIR)`,
    { code: 'lock-unsupported', path, errno: errnoOf(cause), cause }
  )
}

function stillNamed(path: string, descriptor: number): boolean {
  const atPath = statSync(path, { throwIfNoEntry: false })
  return atPath !== undefined && sameFile(descriptor, atPath)
}

function lockTimeout(path: string, waitMs: number): LeaseFault {
  const holder = describeLockHolder(path)
  return new LeaseFault(`${path} stayed locked for ${waitMs} ms${holder === '' ? '' : `, by ${holder}`}`, {
    code: 'lock-timeout',
    path
  })
}

async function pause(attempt: number, signal: AbortSignal | undefined): Promise<void> {
  if (attempt <= EAGER_TRIES) {
    await nextTurn()
    signal?.throwIfAborted()
    return
  }
  // One or two milliseconds, at random, so that those who wait do not try in step.
  await sleepMs(1 + Math.floor(Math.random() * MAX_PAUSE_MS), signal)
}

function sleepMs(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, delayMs)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}
