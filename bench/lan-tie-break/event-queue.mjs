/** Simulated time: a heap of what is to happen when. */

export class EventQueue {
  nowMs = 0
  #heap = []
  #order = 0

  at(dueMs, run) {
    const heap = this.#heap
    heap.push({ dueMs, order: this.#order++, run })
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1
      if (!before(heap[child], heap[parent])) break
      swap(heap, child, parent)
      child = parent
    }
  }

  /** Runs everything that is due before `untilMs`, in order; then it is `untilMs`. */
  runUntil(untilMs) {
    while (this.#heap.length > 0 && this.#heap[0].dueMs < untilMs) {
      const { dueMs, run } = this.#take()
      this.nowMs = dueMs
      run()
    }
    this.nowMs = untilMs
  }

  #take() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0) return first
    heap[0] = last
    for (let parent = 0; ; ) {
      let least = parent
      for (const child of [2 * parent + 1, 2 * parent + 2]) {
        if (child < heap.length && before(heap[child], heap[least])) least = child
      }
      if (least === parent) return first
      swap(heap, least, parent)
      parent = least
    }
  }
}

function before(one, other) {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order)
}

function swap(heap, one, other) {
  ;[heap[one], heap[other]] = [heap[other], heap[one]]
}
