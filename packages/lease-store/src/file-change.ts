/**
 * Tells when the file at a path changes, as far as the system can: one watch, on the file itself, not on its folder with
 * the leases of everybody else. It may stay silent, and whoever listens must also look now and then.
 */
import { type FSWatcher, watch } from 'node:fs'
import { fileNumber } from './small-file.js'

export class FileChange {
  readonly #path: string
  readonly #onChange: () => void
  #watcher: FSWatcher | undefined
  #watched: string | undefined

  constructor(path: string, onChange: () => void) {
    this.#path = path
    this.#onChange = onChange
  }

  /**
   * A watch is on what the path named then. To be called before each look at the file: when it was replaced, or
   * appears, the watch is set anew. Whether there is one now.
   *
   * @throws LeaseFault `io`.
   */
  arm(): boolean {
    const number = fileNumber(this.#path)
    if (this.#watcher !== undefined && number === this.#watched) return true
    this.stop()
    this.#watched = number
    if (number === undefined) return false
    try {
      const watcher = watch(this.#path, { persistent: false }, (event) => this.#told(watcher, event))
      watcher.on('error', () => this.#drop(watcher))
      this.#watcher = watcher
      return true
    } catch {
      // No more inotify watches to be had, or the file went away.
      return false
    }
  }

  stop(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #told(watcher: FSWatcher, event: string): void {
    if (watcher !== this.#watcher) return
    // The file lost its name or is gone, and its number may be given to the next one: that would look watched.
    if (event === 'rename') this.#drop(watcher)
    this.#onChange()
  }

  #drop(watcher: FSWatcher): void {
    watcher.close()
    if (watcher === this.#watcher) this.#watcher = undefined
  }
}
