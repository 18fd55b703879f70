/** Both sides of the UDP probe, opened as far as the system lets us and again when they broke. Either works without the other. */
import type { Clock } from '@agentmux/lease-model'
import type { OwnMachine } from '../peers/own-machine.js'
import type { PeerClaim } from '../peers/peer-claim.js'
import type { PeerTable } from '../peers/peer-table.js'
import type { DiscoveryPorts } from './discovery-ports.js'
import type { FaultLog } from './fault-log.js'
import type { Link } from './links.js'
import { ProbeAsker } from './probe-asker.js'
import { ProbeListener } from './probe-listener.js'

export interface ProbePairOptions {
  readonly clock: Clock
  readonly ports: DiscoveryPorts
  readonly peers: PeerTable
  readonly faults: FaultLog
  readonly links: () => readonly Link[]
  readonly own: () => OwnMachine
  readonly us: () => PeerClaim | undefined
}

export class ProbePair {
  readonly #options: ProbePairOptions
  #listener: ProbeListener | undefined
  #asker: ProbeAsker | undefined
  #refreshing: Promise<void> = Promise.resolve()
  #closed = false
  #cause: unknown

  constructor(options: ProbePairOptions) {
    this.#options = options
  }

  get isListening(): boolean {
    return this.#listener !== undefined
  }

  get cause(): unknown {
    return this.#cause
  }

  /** Opens what is not open. Never rejects. */
  refresh(): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh())
    return this.#refreshing
  }

  ask(): void {
    this.#asker?.ask()
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#refreshing
    await Promise.all([this.#listener?.close(), this.#asker?.close()])
  }

  async #refresh(): Promise<void> {
    const { faults } = this.#options
    if (!this.#closed && !this.#listener) {
      try {
        const onBroken = () => {
          this.#listener = undefined
        }
        this.#listener = await ProbeListener.open({ ...this.#options, onBroken })
        this.#cause = undefined
        faults.over('probe-unavailable')
      } catch (cause) {
        this.#cause = cause
        faults.began('probe-unavailable', { cause })
      }
    }
    if (this.#closed || this.#asker) return
    try {
      const onBroken = () => {
        this.#asker = undefined
      }
      this.#asker = await ProbeAsker.open({ ...this.#options, onBroken })
    } catch (cause) {
      faults.began('probe-unavailable', { cause })
    }
  }
}
