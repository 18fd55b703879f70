/**
 * An answer that goes on: pieces from a server to one client, in their order, each some time on its way. A piece that is lost
 * breaks it; the client hears so, or of nothing any more.
 */
import type { Thread } from '../kernel/thread.js'
import type { World } from './world.js'

export interface PipeEnd {
  readonly thread: Thread
  /** Whether a piece sent now would be lost. */
  readonly isLost: () => boolean
  readonly onPiece: (text: string) => void
  /** Once, and nothing comes after it. */
  readonly onEnd: (fault: string | undefined) => void
}

export class NetPipe {
  readonly #world: World
  readonly #server: Thread
  readonly #early: string[] = []
  #client: PipeEnd | undefined
  #onClose: () => void = () => {}
  #lastUs = 0
  #broken = false
  #left = false

  constructor(server: Thread) {
    this.#world = server.world
    this.#server = server
  }

  /** The server hears at most once that nobody reads any more. */
  onClose(listener: () => void): void {
    this.#onClose = listener
  }

  write(text: string): void {
    if (this.#client === undefined) this.#early.push(text)
    else this.#send(this.#client, text)
  }

  end(): void {
    this.#close()
    this.#finish(undefined)
  }

  /** The server has died: its kernel says so, unless the way is cut. */
  serverDied(): void {
    if (this.#client?.isLost() === false) this.#finish('ECONNRESET')
    else this.#broken = true
  }

  connect(client: PipeEnd): void {
    if (this.#client !== undefined) throw new Error('a pipe has one reader')
    this.#client = client
    for (const text of this.#early.splice(0)) this.#send(client, text)
  }

  /** The client reads no more. */
  leave(): void {
    this.#left = true
    if (this.#client?.isLost() === false) this.#server.after(this.#delayUs(), () => this.#close())
  }

  #send(client: PipeEnd, text: string): void {
    if (this.#broken) return
    // Whoever is gone, or cannot be reached, is found out by writing to him.
    if (this.#left || !client.thread.alive)
      return void this.#server.after(this.#delayUs(), () => this.#close())
    if (client.isLost()) {
      if (this.#world.random.chance(0.5)) this.#finish('ECONNRESET')
      this.#broken = true
      this.#server.after(this.#world.random.int(1_000_000, 30_000_000), () => this.#close())
      return
    }
    this.#inOrder(() => {
      if (!this.#left) client.onPiece(text)
    })
  }

  #finish(fault: string | undefined): void {
    if (this.#broken) return
    this.#broken = true
    this.#inOrder(() => {
      if (!this.#left) this.#client?.onEnd(fault)
    })
  }

  #inOrder(run: () => void): void {
    const dueUs = Math.max(this.#lastUs, this.#world.nowUs + this.#delayUs())
    this.#lastUs = dueUs
    this.#client?.thread.after(dueUs - this.#world.nowUs, run)
  }

  #close(): void {
    const told = this.#onClose
    this.#onClose = () => {}
    told()
  }

  #delayUs(): number {
    return this.#world.random.int(200, 30_000)
  }
}
