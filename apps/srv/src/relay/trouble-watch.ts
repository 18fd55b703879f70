/** Trouble with the relay, as the log has it: said when it comes, and said to be over once what is held is confirmed again. */
import type { CancelTimer, Clock } from '@agentmux/lease-model'
import type { RelayLeases, RelayTrouble } from '@agentmux/wan-client'
import type { RelayLog } from './relay-log.js'

export interface TroubleWatchPorts {
  readonly clock: Clock
  readonly leases: () => Pick<RelayLeases, 'lastTrouble'>
  readonly log: Pick<RelayLog, 'trouble' | 'answered'>
}

/** While there is trouble: how often to look whether it is over. */
const OVER_EVERY_MS = 5_000

export class TroubleWatch {
  readonly #ports: TroubleWatchPorts
  #cancel: CancelTimer | undefined

  constructor(ports: TroubleWatchPorts) {
    this.#ports = ports
  }

  note(trouble: RelayTrouble): void {
    this.#ports.log.trouble(trouble)
    this.#cancel ??= this.#ports.clock.after(OVER_EVERY_MS, () => this.#look())
  }

  close(): void {
    this.#cancel?.()
  }

  #look(): void {
    const { clock, leases, log } = this.#ports
    this.#cancel = undefined
    if (leases().lastTrouble() === undefined) log.answered()
    else this.#cancel = clock.after(OVER_EVERY_MS, () => this.#look())
  }
}
