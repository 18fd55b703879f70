/**
 * One stream of keep-alives to one member of etcd: requests are written without waiting for the answers of those before. A
 * stream that breaks or falls silent ends, and with it what was asked on it: unknown, never "alive".
 */
import type { Etcd3, IDuplexStream, ILeaseKeepAliveRequest, ILeaseKeepAliveResponse } from 'etcd3'
import { StoreUnavailable } from '../store-unavailable.js'

type Stream = IDuplexStream<ILeaseKeepAliveRequest, ILeaseKeepAliveResponse>

interface Waiting {
  readonly resolve: (alive: boolean) => void
  readonly reject: (error: unknown) => void
}

const SILENCE_MS = 1_500

export class KeepAlivePipe {
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #stream: Promise<Stream>
  #silence: NodeJS.Timeout | undefined
  #answers = 0
  #ended = false

  constructor(client: Etcd3) {
    this.#stream = client.leaseClient.leaseKeepAlive()
    this.#stream.then(
      (stream) => {
        stream.on('data', (answer: ILeaseKeepAliveResponse) => this.#answered(answer))
        stream.on('error', (error: unknown) => this.end(new StoreUnavailable('unreachable', error)))
        stream.on('end', () => this.end(new StoreUnavailable('unreachable')))
      },
      (error) => this.end(new StoreUnavailable('unreachable', error))
    )
  }

  get ended(): boolean {
    return this.#ended
  }

  /** Whether the lease was alive, and so is for another TTL. @throws StoreUnavailable where that is not known */
  renew(lease: string): Promise<boolean> {
    return new Promise<boolean>((resolve, reject) => {
      if (this.#ended) return reject(new StoreUnavailable('unreachable'))
      this.#waiting.set(lease, [...(this.#waiting.get(lease) ?? []), { resolve, reject }])
      if (this.#silence === undefined) this.#expectAnswer()
      this.#stream.then(
        (stream) => {
          if (!this.#ended) stream.write({ ID: lease })
        },
        () => {}
      )
    })
  }

  end(because: StoreUnavailable): void {
    if (this.#ended) return
    this.#ended = true
    clearTimeout(this.#silence)
    for (const waiting of this.#waiting.values()) for (const { reject } of waiting) reject(because)
    this.#waiting.clear()
    this.#stream.then(
      (stream) => {
        // It says once more that it has ended.
        stream.on('error', () => {})
        stream.cancel()
      },
      () => {}
    )
  }

  #answered({ ID, TTL }: ILeaseKeepAliveResponse): void {
    const [first, ...rest] = this.#waiting.get(ID) ?? []
    if (rest.length > 0) this.#waiting.set(ID, rest)
    else this.#waiting.delete(ID)
    clearTimeout(this.#silence)
    this.#silence = undefined
    this.#answers++
    if (this.#waiting.size > 0) this.#expectAnswer()
    first?.resolve(Number(TTL) > 0)
  }

  /** A timer that is late, because we were busy, says nothing about etcd: what has come meanwhile is read before that is judged. */
  #expectAnswer(): void {
    const answers = this.#answers
    this.#silence = setTimeout(() => {
      setImmediate(() => {
        if (this.#answers === answers) this.end(new StoreUnavailable('timeout'))
      })
    }, SILENCE_MS)
  }
}
