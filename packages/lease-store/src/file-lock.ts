/**
 * Runs a short synchronous section under flock on a key's lock file. The lock file is opened by path each time and
 * compared with the path after locking (R11); nothing here waits inside the kernel, so an abort or a bound always
 * ends a wait.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { errnoOf, ioFault, LeaseFault } from './lease-fault.js'
import { describeLockHolder } from './lock-holder.js'
import { pause } from './lock-pause.js'
import { type TryFlock, tryFlock } from './native-flock.js'
import { SAFE, sameFile, stillNamed } from './small-file.js'

export interface LockOptions {
  /** How long to go on trying, milliseconds. */
  readonly waitMs: number
  readonly signal?: AbortSignal | undefined
  /** Creates the lock file when it is missing. */
  readonly create: () => Promise<void> | void
}

/** `instead`: asked while somebody else has the lock; an answer ends the wait, and the section does not run. */
export interface LockOptionsOr<T> extends LockOptions {
  readonly instead?: () => T | undefined
}

const OPEN = constants.O_RDWR | SAFE

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
  async run<T>(path: string, section: () => T, options: LockOptionsOr<T>): Promise<T> {
    const { signal, waitMs, instead } = options
    signal?.throwIfAborted()
    const startedMs = performance.now()
    for (let attempt = 1; ; attempt++) {
      const descriptor = openIfThere(path)
      if (descriptor === undefined) {
        await options.create()
      } else {
        try {
          for (; !this.#lock(path, descriptor); attempt++) {
            if (performance.now() - startedMs >= waitMs) throw lockTimeout(path, waitMs)
            await pause(attempt, signal)
            const meanwhile = instead?.()
            if (meanwhile !== undefined) return meanwhile
          }
          if (isStillNamed(path, descriptor)) {
            signal?.throwIfAborted()
            return section()
          }
        } finally {
          // Closing the only descriptor gives the lock up.
          closeSync(descriptor)
        }
        await pause(attempt, signal)
      }
      // It is swapped or removed again and again: as good as locked.
      if (attempt > 1 && performance.now() - startedMs >= waitMs) throw lockTimeout(path, waitMs)
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
    const second = openIfThere(path)
    if (second === undefined) return
    try {
      if (!sameFile(descriptor, second)) return
      if (this.#tryFlock(second)) {
        throw unsupported(path, 'flock does nothing there: two openers got the same lock', undefined)
      }
      this.#proven = true
    } finally {
      closeSync(second)
    }
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, OPEN)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw ioFault('open the lock', path, error)
  }
}

function isStillNamed(path: string, descriptor: number): boolean {
  try {
    return stillNamed(path, descriptor)
  } catch (error) {
    throw ioFault('look at the lock', path, error)
  }
}

function unsupported(path: string, reason: string, cause: unknown): LeaseFault {
  return new LeaseFault(
    `no lease can be held at ${path}: ${reason}. Put the shared folder on a local disk (AGENTMUX_SHARED_DIR)`,
    { code: 'lock-unsupported', path, errno: errnoOf(cause), cause }
  )
}

function lockTimeout(path: string, waitMs: number): LeaseFault {
  const holder = describeLockHolder(path)
  return new LeaseFault(`${path} stayed locked for ${waitMs} ms${holder === '' ? '' : `, by ${holder}`}`, {
    code: 'lock-timeout',
    path
  })
}
