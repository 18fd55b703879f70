/**
 * A few file descriptors kept back, so that processes can still be found and ended when this process has run out of
 * them: that is one way for renewals to fail (R13).
 */
import { closeSync, openSync } from 'node:fs'
import { errnoOf } from './process-stat.js'

/** Looking at one process needs one at a time; listing a folder another. */
const KEPT = 3

export class DescriptorReserve {
  #kept: number[] = []

  constructor() {
    this.#fill()
  }

  /** Runs the section, again without the reserve if there were no descriptors left for it. */
  run(section: () => void): void {
    try {
      section()
    } catch (error) {
      if (!['EMFILE', 'ENFILE'].includes(errnoOf(error)) || this.#kept.length === 0) throw error
      for (const descriptor of this.#kept.splice(0)) closeSync(descriptor)
      section()
    } finally {
      this.#fill()
    }
  }

  #fill(): void {
    try {
      while (this.#kept.length < KEPT) this.#kept.push(openSync('/dev/null', 'r'))
    } catch {
      // None to be had now: next time.
    }
  }
}
