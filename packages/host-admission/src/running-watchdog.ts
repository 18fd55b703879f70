/** The one watchdog of an admission: started when it is first needed, and anew after it died. */
import type { LeaseTimings } from '@agentmux/lease-model'
import { AdmissionFault } from './admission-fault.js'
import { startWatchdogThread, type WatchdogThread } from './start-watchdog-thread.js'
import { Watchdog, type WatchdogEvents } from './watchdog.js'

export class RunningWatchdog {
  readonly #timings: LeaseTimings
  readonly #events: WatchdogEvents
  #early: WatchdogThread | undefined
  #current: Watchdog | undefined

  /** `early`: a thread that was started before us with these timings; the first to be used. */
  constructor(timings: LeaseTimings, events: WatchdogEvents, early?: WatchdogThread) {
    this.#timings = timings
    this.#events = events
    this.#early = early
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
    await this.#early?.worker.terminate()
  }

  #takeThread(): WatchdogThread {
    const thread = this.#early ?? startWatchdogThread(this.#timings)
    this.#early = undefined
    return thread
  }

  #create(): Watchdog {
    try {
      const watchdog: Watchdog = new Watchdog(this.#takeThread(), {
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
