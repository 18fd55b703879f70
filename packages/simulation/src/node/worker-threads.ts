/** node:worker_threads: a thread of the same simulated process, in a realm of its own. Messages keep their order. */
import type { Thread } from '../kernel/thread.js'

export type StartThread = (of: Thread, data: unknown, port: ThreadPort) => Thread

/** The thread's own end. */
export interface ThreadPort {
  postMessage(message: unknown): void
  on(event: string, listener: (message: never) => void): void
}

type Listener = (value: never) => void

export function workerThreads(thread: Thread, start: StartThread) {
  const { world } = thread

  /** One direction: each message is there some time after it was sent, none before the one before it. */
  function channel(to: () => Thread | undefined, deliver: (message: unknown) => void) {
    let lastUs = 0
    return (message: unknown) => {
      const dueUs = Math.max(lastUs, world.nowUs + world.random.int(20, 900))
      lastUs = dueUs
      to()?.after(dueUs - world.nowUs, () => deliver(message))
    }
  }

  class Worker {
    readonly #listeners: { event: string; listener: Listener }[] = []
    readonly #thread: Thread
    readonly #inbox: Listener[] = []
    /** What came before anybody listened. */
    readonly #early: unknown[] = []
    readonly #send: (message: unknown) => void

    constructor(_url: unknown, options: { workerData?: unknown }) {
      const toUs = channel(
        () => thread,
        (message) => this.#emit('message', message)
      )
      const port: ThreadPort = {
        postMessage: toUs,
        on: (event, listener) => {
          if (event !== 'message') return
          this.#inbox.push(listener)
          for (const message of this.#early.splice(0)) listener(message as never)
        }
      }
      this.#thread = start(thread, options.workerData, port)
      this.#send = channel(
        () => this.#thread,
        (message) => {
          if (this.#inbox.length === 0) this.#early.push(message)
          for (const listener of [...this.#inbox]) listener(message as never)
        }
      )
    }

    on(event: string, listener: Listener): this {
      this.#listeners.push({ event, listener })
      return this
    }

    off(event: string, listener: Listener): this {
      const at = this.#listeners.findIndex((each) => each.event === event && each.listener === listener)
      if (at >= 0) this.#listeners.splice(at, 1)
      return this
    }

    postMessage(message: unknown): void {
      this.#send(message)
    }

    unref(): this {
      return this
    }

    terminate(): Promise<number> {
      this.#thread.terminated = true
      return thread.sandbox.Promise.resolve(0)
    }

    #emit(event: string, value: unknown): void {
      for (const each of [...this.#listeners]) if (each.event === event) each.listener(value as never)
    }
  }
  return { Worker, parentPort: null, workerData: null }
}
