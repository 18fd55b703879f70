/**
 * Tells when something in a record's folder may have changed: by the file system's events, with a slow poll behind for
 * lost events, a folder that is not there yet, and a system that is out of watches.
 */
import { type FSWatcher, statSync, watch } from 'node:fs'
import type { Clock } from '@agentmux/lease-model'

const POLL_MS = 1_000

export class FolderWatch {
  readonly #folder: string
  readonly #clock: Clock
  #watcher: FSWatcher | undefined
  #inode: number | undefined
  #changed = false
  #wake: () => void = () => {}

  /** Watches from here on: read after this, then wait. */
  constructor(folder: string, clock: Clock) {
    this.#folder = folder
    this.#clock = clock
    this.#arm()
  }

  /** Resolves at the next change, or the one since the last call; after a second in any case; and at an abort. */
  async change(...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
    if (!this.#changed && !signals.some((signal) => signal?.aborted)) {
      await new Promise<void>((resolve) => {
        const cancelPoll = this.#clock.after(POLL_MS, () => this.#wake())
        const onAbort = () => this.#wake()
        for (const signal of signals) signal?.addEventListener('abort', onAbort, { once: true })
        this.#wake = () => {
          cancelPoll()
          for (const signal of signals) signal?.removeEventListener('abort', onAbort)
          this.#wake = () => {}
          resolve()
        }
      })
    }
    this.#changed = false
    this.#arm()
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  /** A watch is on an inode: it is set anew once the folder appears, or is another. */
  #arm(): void {
    try {
      const inode = statSync(this.#folder, { throwIfNoEntry: false })?.ino
      if (this.#watcher !== undefined && inode === this.#inode) return
      this.close()
      this.#inode = inode
      if (inode === undefined) return
      const watcher = watch(this.#folder, { persistent: false }, () => {
        this.#changed = true
        this.#wake()
      })
      watcher.on('error', () => {
        watcher.close()
        if (this.#watcher === watcher) this.#watcher = undefined
      })
      this.#watcher = watcher
    } catch {
      // Out of watches, or the folder went away: the poll sees it.
    }
  }
}
