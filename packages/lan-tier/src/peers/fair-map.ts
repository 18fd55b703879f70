/**
 * A map of bounded size that no single source can fill: each source may have so many entries, and when the whole is
 * full the source with the most entries gives up its newest. So junk from one sender never pushes out what others sent,
 * however much of it comes. It does not stop whoever forges a thousand senders.
 */
export interface FairMapLimits {
  readonly total: number
  readonly perSource: number
  /** What a source that has its share gets for one more: nothing, or the place of its own oldest. */
  readonly whenSourceFull?: 'refuse' | 'drop-oldest'
}

interface Entry<V> {
  readonly source: string
  value: V
}

export class FairMap<V> {
  readonly #limits: FairMapLimits
  readonly #entries = new Map<string, Entry<V>>()
  readonly #keysOf = new Map<string, Set<string>>()

  readonly #onEvicted: (key: string, value: V) => void

  /** `onEvicted` is told of each entry that had to make room for another. */
  constructor(limits: FairMapLimits, onEvicted: (key: string, value: V) => void = () => {}) {
    this.#limits = limits
    this.#onEvicted = onEvicted
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value
  }

  /** Every value, in the order in which the keys first came. */
  *values(): Generator<V> {
    for (const { value } of this.#entries.values()) yield value
  }

  *entries(): Generator<[string, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value]
  }

  /**
   * Puts a value in, or replaces it: a key stays with the source that brought it first. False if there is no room.
   */
  set(key: string, value: V, source: string): boolean {
    const known = this.#entries.get(key)
    if (known) {
      known.value = value
      return true
    }
    const own = this.#keysOf.get(source)?.size ?? 0
    if (own >= this.#limits.perSource) {
      if (this.#limits.whenSourceFull !== 'drop-oldest') return false
      for (const oldest of this.#keysOf.get(source) ?? []) {
        this.#evict(oldest)
        break
      }
    } else if (this.#entries.size >= this.#limits.total && !this.#makeRoomFor(own)) return false
    this.#entries.set(key, { source, value })
    const keys = this.#keysOf.get(source)
    if (keys) keys.add(key)
    else this.#keysOf.set(source, new Set([key]))
    return true
  }

  delete(key: string): boolean {
    const entry = this.#entries.get(key)
    if (!entry) return false
    this.#entries.delete(key)
    const keys = this.#keysOf.get(entry.source)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysOf.delete(entry.source)
    return true
  }

  clear(): void {
    this.#entries.clear()
    this.#keysOf.clear()
  }

  /** Only a source that would still have more than the newcomer gives way, so two sources never push each other out. */
  #makeRoomFor(ownCount: number): boolean {
    let most: Set<string> | undefined
    for (const keys of this.#keysOf.values()) {
      if (keys.size > ownCount + 1 && (most === undefined || keys.size > most.size)) most = keys
    }
    const newest = most && [...most].at(-1)
    if (newest === undefined) return false
    this.#evict(newest)
    return true
  }

  #evict(key: string): void {
    const entry = this.#entries.get(key)
    this.delete(key)
    if (entry) this.#onEvicted(key, entry.value)
  }
}
