/**
 * One daemon per channel and shared root: a lock file beside the daemon file, flocked for as long as the daemon lives. The
 * kernel gives it up with the process, however that ends. The file itself is never renamed, replaced or removed (R11).
 */
import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { stem } from '@agentmux/host-admission'
import { createFolder, tryFlock } from '@agentmux/lease-store'
import { daemonFolder } from './daemon-file.js'

const OPEN = constants.O_RDWR | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)

export class DaemonLock {
  #descriptor: number | undefined

  private constructor(descriptor: number) {
    this.#descriptor = descriptor
  }

  /** Undefined if another process has it. @throws what node:fs throws; LeaseFault for the folder, or where there is no flock. */
  static take(sharedRoot: string, channel: string): DaemonLock | undefined {
    const folder = daemonFolder(sharedRoot)
    createFolder(folder, { durable: false })
    const path = join(folder, `${stem(channel)}.lock`)
    for (;;) {
      // Node opens everything close-on-exec: no child of ours keeps the lock.
      const descriptor = openSync(path, OPEN, 0o600)
      let locked = false
      try {
        locked = tryFlock(descriptor)
        if (!locked) return undefined
        const [ours, named] = [fstatSync(descriptor), statSync(path, { throwIfNoEntry: false })]
        if (named?.ino === ours.ino && named.dev === ours.dev) return new DaemonLock(descriptor)
        // Somebody has put another file in its place: that one counts.
        locked = false
      } finally {
        if (!locked) closeSync(descriptor)
      }
    }
  }

  /** For the end of this daemon. Again, it does nothing. */
  release(): void {
    if (this.#descriptor === undefined) return
    closeSync(this.#descriptor)
    this.#descriptor = undefined
  }
}
