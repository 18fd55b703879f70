/**
 * Keeps leases of etcd alive, many at once: requests are written to a few streams without waiting for the answers of those
 * before. A stream that breaks or falls silent takes with it what was asked on it: unknown, never "alive".
 */
import type { IDuplexStream, ILeaseKeepAliveRequest, ILeaseKeepAliveResponse } from 'etcd3'
import { StoreUnavailable } from '../store-unavailable.js'
import type { EtcdClient } from './etcd-client.js'

type Stream = IDuplexStream<ILeaseKeepAliveRequest, ILeaseKeepAliveResponse>

interface Waiting {
  readonly resolve: (alive: boolean) => void
  readonly reject: (error: unknown) => void
}

interface Pipe {
  readonly stream: Stream
  readonly waiting: Map<string, Waiting[]>
  /** Since nothing came although something was asked, by performance.now(). */
  silentSinceMs: number
}

const PIPES = 8
const SILENCE_MS = 1_500

export class KeepAlives {
  readonly #etcd: EtcdClient
  readonly #pipes: (Promise<Pipe> | undefined)[] = new Array<undefined>(PIPES).fill(undefined)
  #next = 0
  #watch: NodeJS.Timeout | undefined
  readonly #open = new Set<Pipe>()
  #closed = false

  constructor(etcd: EtcdClient) {
    this.#etcd = etcd
  }

  /** Whether the lease was alive, and so is for another TTL. @throws StoreUnavailable where that is not known */
  async renew(lease: string): Promise<boolean> {
    if (this.#closed) throw new StoreUnavailable('closed')
    const index = this.#next++ % PIPES
    const pipe = await this.#pipe(index)
    return new Promise<boolean>((resolve, reject) => {
      if (!this.#open.has(pipe)) return reject(new StoreUnavailable('unreachable'))
      if (pipe.waiting.size === 0) pipe.silentSinceMs = performance.now()
      const waiting = pipe.waiting.get(lease)
      if (waiting === undefined) pipe.waiting.set(lease, [{ resolve, reject }])
      else waiting.push({ resolve, reject })
      this.#watch ??= setInterval(() => this.#endSilent(), SILENCE_MS / 3)
      pipe.stream.write({ ID: lease })
    })
  }

  close(): void {
    this.#closed = true
    for (const pipe of this.#open) this.#end(pipe, new StoreUnavailable('closed'))
  }

  #pipe(index: number): Promise<Pipe> {
    const known = this.#pipes[index]
    if (known !== undefined) return known
    const opening = this.#openPipe(index)
    this.#pipes[index] = opening
    return opening
  }

  async #openPipe(index: number): Promise<Pipe> {
    try {
      const stream = await this.#etcd.call(() => this.#etcd.raw.leaseClient.leaseKeepAlive())
      const pipe: Pipe = { stream, waiting: new Map(), silentSinceMs: performance.now() }
      this.#open.add(pipe)
      const onEnd = (error?: unknown) => {
        if (this.#pipes[index] !== undefined && this.#open.has(pipe)) this.#pipes[index] = undefined
        this.#end(pipe, new StoreUnavailable('unreachable', error))
      }
      stream.on('data', (answer: ILeaseKeepAliveResponse) => this.#answered(pipe, answer))
      stream.on('error', onEnd)
      stream.on('end', onEnd)
      return pipe
    } catch (error) {
      this.#pipes[index] = undefined
      throw error
    }
  }

  #answered(pipe: Pipe, { ID, TTL }: ILeaseKeepAliveResponse): void {
    pipe.silentSinceMs = performance.now()
    const waiting = pipe.waiting.get(ID)
    const first = waiting?.shift()
    if (waiting?.length === 0) pipe.waiting.delete(ID)
    first?.resolve(Number(TTL) > 0)
  }

  #endSilent(): void {
    const nowMs = performance.now()
    let asked = false
    for (const pipe of this.#open) {
      if (pipe.waiting.size === 0) continue
      asked = true
      if (nowMs - pipe.silentSinceMs < SILENCE_MS) continue
      this.#end(pipe, new StoreUnavailable('timeout'))
    }
    if (asked) return
    clearInterval(this.#watch)
    this.#watch = undefined
  }

  #end(pipe: Pipe, because: StoreUnavailable): void {
    if (!this.#open.delete(pipe)) return
    for (const [index, opening] of this.#pipes.entries()) {
      opening?.then((one) => {
        if (one === pipe && this.#pipes[index] === opening) this.#pipes[index] = undefined
      })
    }
    for (const waiting of pipe.waiting.values()) for (const { reject } of waiting) reject(because)
    pipe.waiting.clear()
    pipe.stream.on('error', () => {})
    pipe.stream.end()
    const { stream } = pipe as unknown as { stream: { cancel?: () => void } }
    stream.cancel?.()
  }
}
