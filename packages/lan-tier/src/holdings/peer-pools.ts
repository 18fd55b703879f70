/** The connections to peers: one small pool for each address and port, none for those that are peers no longer, none after `close`. */
import { connect } from 'node:net'
import { type buildConnector, Pool } from 'undici'
import type { LocalAddress } from './local-network.js'

/** Two, so that an older build's questions do not stand in line behind one that hangs. */
const CONNECTIONS = 2
const CONNECT_TIMEOUT_MS = 1_500
const MAX_HEADER_BYTES = 8 * 1024

export class PeerPools {
  readonly #pools = new Map<string, Pool>()
  #closed = false

  /** @throws Error after `close`. */
  pool(address: LocalAddress, port: number): Pool {
    if (this.#closed) throw new Error('the connections to peers are closed')
    const key = poolKey(address, port)
    const known = this.#pools.get(key)
    if (known !== undefined) return known
    const pool = new Pool(`http://${address.urlHost}:${port}`, {
      connections: CONNECTIONS,
      pipelining: 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // A round of questions has its own time-outs; these only end what nobody waits for any more.
      headersTimeout: 10_000,
      bodyTimeout: 10_000,
      connect: connectorTo(address.host, port)
    })
    this.#pools.set(key, pool)
    return pool
  }

  get size(): number {
    return this.#pools.size
  }

  /** Ends the connections to everybody else. */
  keepOnly(addresses: Iterable<{ readonly address: LocalAddress; readonly port: number }>): void {
    const kept = new Set(Array.from(addresses, ({ address, port }) => poolKey(address, port)))
    for (const [key, pool] of this.#pools) {
      if (kept.has(key)) continue
      this.#pools.delete(key)
      void pool.destroy()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}

function poolKey({ host }: LocalAddress, port: number): string {
  return `${host} ${port}`
}

/** To an address and never to a name. The scope of a link-local address is not part of a URL, so it comes in here. */
function connectorTo(host: string, port: number): buildConnector.connector {
  return (_options, callback) => {
    const socket = connect({ host, port, noDelay: true, keepAlive: false })
    const settle = (fault: Error | undefined) => {
      clearTimeout(timer)
      socket.off('connect', onConnect).off('error', settle)
      if (fault === undefined) return callback(null, socket)
      socket.on('error', () => {}).destroy()
      callback(fault, null)
    }
    const onConnect = () => settle(undefined)
    const timer = setTimeout(() => {
      settle(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' }))
    }, CONNECT_TIMEOUT_MS)
    socket.once('connect', onConnect).once('error', settle)
  }
}
