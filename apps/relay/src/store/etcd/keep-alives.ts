/**
 * Keeps leases of etcd alive, many at once, through a few streams to each member. A member that does not answer is left alone for a
 * while, and what was asked of it is asked of another: a keep-alive can be repeated.
 */
import { Etcd3 } from 'etcd3'
import { StoreUnavailable } from '../store-unavailable.js'
import { KeepAlivePipe } from './keep-alive-pipe.js'
import { askOnce } from './member-policy.js'

interface Member {
  readonly client: Etcd3
  readonly pipes: (KeepAlivePipe | undefined)[]
  leftAloneUntilMs: number
}

const PIPES = 4
const LEFT_ALONE_MS = 10_000

export class KeepAlives {
  readonly #members: readonly Member[]
  #next = 0
  #closed = false

  constructor(hosts: readonly string[]) {
    const faultHandling = { global: askOnce, host: () => askOnce }
    this.#members = hosts.map((host) => ({
      client: new Etcd3({ hosts: host, faultHandling }),
      pipes: new Array<undefined>(PIPES).fill(undefined),
      leftAloneUntilMs: 0
    }))
  }

  /** Whether the lease was alive, and so is for another TTL. @throws StoreUnavailable where that is not known */
  async renew(lease: string): Promise<boolean> {
    let fault = new StoreUnavailable('unreachable')
    for (const member of this.#inTurn()) {
      if (this.#closed) throw new StoreUnavailable('closed')
      try {
        return await this.#pipeTo(member).renew(lease)
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        fault = error
        member.leftAloneUntilMs = performance.now() + LEFT_ALONE_MS
      }
    }
    throw fault
  }

  close(): void {
    this.#closed = true
    for (const { client, pipes } of this.#members) {
      for (const pipe of pipes) pipe?.end(new StoreUnavailable('closed'))
      client.close()
    }
  }

  /** Another one first each time, and those that failed lately last. */
  #inTurn(): Member[] {
    const first = this.#next++ % this.#members.length
    const turned = [...this.#members.slice(first), ...this.#members.slice(0, first)]
    const nowMs = performance.now()
    const isLeftAlone = (member: Member) => member.leftAloneUntilMs > nowMs
    return [...turned.filter((one) => !isLeftAlone(one)), ...turned.filter(isLeftAlone)]
  }

  #pipeTo({ client, pipes }: Member): KeepAlivePipe {
    const index = Math.floor(Math.random() * PIPES)
    const known = pipes[index]
    if (known !== undefined && !known.ended) return known
    const fresh = new KeepAlivePipe(client)
    pipes[index] = fresh
    return fresh
  }
}
