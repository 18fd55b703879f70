/** The one watchdog of an admission: started when it is first needed, and anew after it died. */
import type { LeaseTimings } from '@agentmux/lease-model'
import { AdmissionFault } from './admission-fault.js'
import { Watchdog, type WatchdogEvents } from './watchdog.js'

export class RunningWatchdog {
  readonly #timings: LeaseTimings
  readonly #events: WatchdogEvents
  #current: Watchdog | undefined

  constructor(timings: LeaseTimings, events: WatchdogEvents) {
    this.#timings = timings
    this.#events = events
  }

  /** @throws AdmissionFault `watchdog-failed` if no thread can be started. It may still die: see `ready`. */
  start(): Watchdog {
    this.#current ??= this.#create()
    return this.#current
  }

  async close(): Promise<void> {
    const watchdog = this.#current
    this.#current = undefined
    await watchdog?.close()
  }

  #create(): Watchdog {
    try {
      const watchdog: Watchdog = new Watchdog(this.#timings, {
        onLook: this.#events.onLook,
        onFailure: (fault) => {
          if (this.#current === watchdog) this.#current = undefined
          this.#events.onFailure(fault)
        }
      })
      return watchdog
    } catch (error) {
      throw new AdmissionFault('watchdog-failed', 'the watchdog thread could not be started', error)
    }
  }
}
