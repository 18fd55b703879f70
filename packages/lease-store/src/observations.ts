/**
 * What this process has watched of each lease file: since when its bytes and inode have not changed, by its own
 * clock. It is the only evidence about a record whose clock or pids mean nothing here (R14).
 */

export interface Observation {
  /** How long the file has been seen unchanged, milliseconds. 0 at first sight. */
  readonly unchangedForMs: number
  /** Whether it was once seen to change: somebody renewed it, at that moment, by our own clock. */
  readonly changedSeen: boolean
}

interface Sighting {
  readonly fingerprint: string
  readonly sinceMs: number
  readonly changedSeen: boolean
}

/** Keys watched at the same time; beyond this the oldest is forgotten, which only makes a watch start anew. */
const MAX_KEYS = 10_000

export class Observations {
  readonly #sightings = new Map<string, Sighting>()

  /** Notes what the file is now. `fingerprint` must hold every byte and the inode. */
  look(key: string, fingerprint: string, bootMs: number): Observation {
    const before = this.#sightings.get(key)
    if (before?.fingerprint === fingerprint) {
      return { unchangedForMs: bootMs - before.sinceMs, changedSeen: before.changedSeen }
    }
    const changedSeen = before !== undefined
    this.#sightings.delete(key)
    this.#sightings.set(key, { fingerprint, sinceMs: bootMs, changedSeen })
    if (this.#sightings.size > MAX_KEYS) {
      for (const oldest of this.#sightings.keys()) {
        this.#sightings.delete(oldest)
        break
      }
    }
    return { unchangedForMs: 0, changedSeen }
  }

  forget(key: string): void {
    this.#sightings.delete(key)
  }
}
