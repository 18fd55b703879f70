/** The main thread's side of the watchdog: starts the thread and keeps one cell of shared memory per lease. */
import { Worker } from 'node:worker_threads'
import type { LeaseTimings } from '@agentmux/lease-model'
import { FENCED, type FromWatchdog, type ToWatchdog, type WatchdogSettings } from './watchdog-messages.js'

export interface WatchdogEvents {
  /** We were suspended, or the wall clock was stepped: confirm every lease now. */
  readonly onLook: () => void
  /** The thread died: nothing guards the deadlines any more. */
  readonly onFailure: (error: Error) => void
}

/** One lease's place in the watchdog. */
export interface Guard {
  /** Moves the deadline on. False if the lease was fenced: then the renewal came too late and does not count. */
  confirm(renewalStartedBootMs: number): boolean
  readonly fenced: boolean
  /** Names the child to be stopped; undefined once it has exited. */
  setDriver(driver: { pid: number; ownGroup: boolean } | undefined): void
  /** Ends the guard. Safe to call again. */
  dismiss(): void
}

const CELLS_PER_SEGMENT = 512
const CELL_BYTES = BigInt64Array.BYTES_PER_ELEMENT

export class Watchdog {
  readonly #worker: Worker
  readonly #ready: Promise<void>
  readonly #onFenced = new Map<number, () => void>()
  readonly #freeCells: BigInt64Array<SharedArrayBuffer>[] = []
  #nextId = 1
  #closed = false

  constructor(timings: LeaseTimings, events: WatchdogEvents) {
    const settings: WatchdogSettings = {
      terminateAfterMs: timings.terminateAfterMs,
      killAfterMs: timings.killAfterMs,
      tickMs: Math.min(250, Math.max(20, Math.floor(timings.ttlMs / 60)))
    }
    // No options of the main thread's command line: a debugger port or a loader would be in the way.
    this.#worker = new Worker(new URL('./watchdog-thread.js', import.meta.url), {
      workerData: settings,
      execArgv: [],
      name: 'agentmux-watchdog'
    })
    this.#worker.unref()
    this.#ready = new Promise((resolve, reject) => {
      const fail = (error: Error) => {
        reject(error)
        if (!this.#closed) events.onFailure(error)
      }
      this.#worker.on('message', (message: FromWatchdog) => {
        if (message.kind === 'ready') resolve()
        else if (message.kind === 'fenced') this.#onFenced.get(message.id)?.()
        else events.onLook()
      })
      this.#worker.on('error', fail)
      this.#worker.on('exit', (code) => fail(new Error(`the watchdog thread ended (${code})`)))
    })
    this.#ready.catch(() => {})
  }

  /** Resolves once the thread runs. Guards may be made before; children must not be. */
  async ready(): Promise<void> {
    // An unreferenced worker alone would not keep the process waiting for it.
    const keepAlive = setInterval(() => {}, 60_000)
    try {
      await this.#ready
    } finally {
      clearInterval(keepAlive)
    }
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
        if (dismissed) return
        this.#tell({ kind: 'driver', id, pid: driver?.pid ?? 0, ownGroup: driver?.ownGroup ?? false })
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
    this.#closed = true
    await this.#worker.terminate()
  }

  #tell(message: ToWatchdog): void {
    if (!this.#closed) this.#worker.postMessage(message)
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
