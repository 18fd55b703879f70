/** Tells of each fault once, when it begins, and once when it is over: a cable that is out is not news every 20 s. */
import type { DiscoveryEvent, DiscoveryFault } from './discovery-event.js'

const MAX_OPEN = 256

export class FaultLog {
  readonly #tell: (event: DiscoveryEvent) => void
  readonly #open = new Set<string>()

  constructor(tell: (event: DiscoveryEvent) => void) {
    this.#tell = tell
  }

  began(fault: DiscoveryFault, { on, cause }: { on?: string; cause?: unknown } = {}): void {
    const key = `${fault} ${on ?? ''}`
    if (this.#open.has(key) || this.#open.size >= MAX_OPEN) return
    this.#open.add(key)
    this.#tell({ kind: 'fault', fault, ...(on !== undefined && { interface: on }), cause })
  }

  over(fault: DiscoveryFault, on?: string): void {
    if (!this.#open.delete(`${fault} ${on ?? ''}`)) return
    this.#tell({ kind: 'recovered', fault, ...(on !== undefined && { interface: on }) })
  }
}
