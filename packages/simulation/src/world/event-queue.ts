/** What is to happen, by time; what is due at the same moment happens in the order in which it was planned. */
export interface Planned {
  readonly atUs: number
  readonly order: number
  readonly run: () => void
  cancelled: boolean
}

export class EventQueue {
  readonly #heap: Planned[] = []
  #order = 0

  get size(): number {
    return this.#heap.length
  }

  get next(): Planned | undefined {
    return this.#heap[0]
  }

  add(atUs: number, run: () => void): Planned {
    const planned = { atUs, order: this.#order++, run, cancelled: false }
    const heap = this.#heap
    let at = heap.length
    heap.push(planned)
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (above === undefined || !isBefore(planned, above)) break
      heap[at] = above
      at = parent
    }
    heap[at] = planned
    return planned
  }

  take(): Planned | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      const left = heap[child]
      const right = heap[child + 1]
      if (left === undefined) break
      let least = left
      if (right !== undefined && isBefore(right, left)) {
        child++
        least = right
      }
      if (!isBefore(least, last)) break
      heap[at] = least
      at = child
    }
    heap[at] = last
    return first
  }
}

function isBefore(one: Planned, other: Planned): boolean {
  return one.atUs < other.atUs || (one.atUs === other.atUs && one.order < other.order)
}
