/** The main thread's side of the watchdog: keeps one cell of shared memory per lease, and hears what the thread tells. */
import type { Worker } from 'node:worker_threads'
import { AdmissionFault } from './admission-fault.js'
import type { WatchdogThread } from './start-watchdog-thread.js'
import { type Driver, FENCED, type FromWatchdog, type ToWatchdog } from './watchdog-messages.js'

export interface WatchdogEvents {
  /** We were suspended, or the wall clock was stepped: confirm every lease now. */
  readonly onLook: () => void
  /** The thread died: nothing guards the deadlines any more. Called once; not after `close`. */
  readonly onFailure: (fault: AdmissionFault) => void
}

/** One lease's place in the watchdog. */
export interface Guard {
  /** Moves the deadline on. False if the lease was fenced: then the renewal came too late and does not count. */
  confirm(renewalStartedBootMs: number): boolean
  readonly fenced: boolean
  /** Names the child to be stopped; undefined once it has exited. */
  setDriver(driver: Driver | undefined): void
  /** Ends the guard. Safe to call again. */
  dismiss(): void
}

const CELLS_PER_SEGMENT = 512
const CELL_BYTES = BigInt64Array.BYTES_PER_ELEMENT
/** A thread starts in some 50 ms; a machine on which it takes this long drives nothing. */
const READY_WITHIN_MS = 30_000

export class Watchdog {
  readonly #worker: Worker
  readonly #ready: Promise<void>
  readonly #onFenced = new Map<number, () => void>()
  readonly #freeCells: BigInt64Array<SharedArrayBuffer>[] = []
  #nextId = 1
  #ended = false

  constructor(thread: WatchdogThread, events: WatchdogEvents) {
    this.#worker = thread.worker
    const fail = (fault: AdmissionFault) => {
      // A dying thread reports more than once.
      if (this.#ended) return
      this.#ended = true
      events.onFailure(fault)
    }
    this.#ready = thread.ready
    thread.ready.catch(fail)
    thread.ended.then(fail)
    this.#worker.on('message', (message: FromWatchdog) => {
      if (message.kind === 'fenced') this.#onFenced.get(message.id)?.()
      else if (message.kind !== 'ready') events.onLook()
    })
    // After the listeners: one for messages refers the thread again, and the process would never end by itself.
    this.#worker.unref()
  }

  /**
   * Resolves once the thread runs. Guards may be made before; children must not be.
   *
   * @throws AdmissionFault `watchdog-failed`; the signal's reason.
   */
  ready(signal: AbortSignal): Promise<void> {
    if (this.#ended) {
      return Promise.reject(new AdmissionFault('watchdog-failed', 'the watchdog thread has ended'))
    }
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        outcome()
      }
      const onAbort = () => settle(() => reject(signal.reason))
      const late = new AdmissionFault('watchdog-failed', 'the watchdog thread did not start in time')
      // It also keeps the process waiting for the thread, which by itself it would not.
      const timer = setTimeout(() => settle(() => reject(late)), READY_WITHIN_MS)
      signal.addEventListener('abort', onAbort, { once: true })
      if (signal.aborted) onAbort()
      this.#ready.then(
        () => settle(resolve),
        (fault) => settle(() => reject(fault))
      )
    })
  }

  guard(claimId: string, renewalStartedBootMs: number, onFenced: () => void): Guard {
    const id = this.#nextId++
    const cell = this.#takeCell()
    Atomics.store(cell, 0, BigInt(Math.floor(renewalStartedBootMs)))
    this.#onFenced.set(id, onFenced)
    this.#tell({ kind: 'arm', id, claimId, cell })
    let dismissed = false
    return {
      confirm: (startedMs) => {
        const before = Atomics.load(cell, 0)
        if (before === FENCED) return false
        return Atomics.compareExchange(cell, 0, before, BigInt(Math.floor(startedMs))) !== FENCED
      },
      get fenced() {
        return Atomics.load(cell, 0) === FENCED
      },
      setDriver: (driver) => {
        if (!dismissed) this.#tell({ kind: 'driver', id, driver })
      },
      dismiss: () => {
        if (dismissed) return
        dismissed = true
        this.#onFenced.delete(id)
        this.#tell({ kind: 'disarm', id })
        // The cell is not used again: the thread may still be about to write to it.
      }
    }
  }

  async close(): Promise<void> {
    this.#ended = true
    await this.#worker.terminate()
  }

  #tell(message: ToWatchdog): void {
    if (!this.#ended) this.#worker.postMessage(message)
  }

  #takeCell(): BigInt64Array<SharedArrayBuffer> {
    if (this.#freeCells.length === 0) {
      const segment = new SharedArrayBuffer(CELLS_PER_SEGMENT * CELL_BYTES)
      for (let index = 0; index < CELLS_PER_SEGMENT; index++) {
        this.#freeCells.push(new BigInt64Array(segment, index * CELL_BYTES, 1))
      }
    }
    return this.#freeCells.pop() ?? new BigInt64Array(new SharedArrayBuffer(CELL_BYTES))
  }
}
