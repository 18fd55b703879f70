/**
 * Asks by UDP broadcast who is there, for networks that carry no multicast. Answers count for a short while after a
 * question, from senders nearby that are not this machine, and say where the sender itself is, nothing else.
 */
import type { RemoteInfo, Socket } from 'node:dgram'
import type { Clock } from '@agentmux/lease-model'
import { isLoopback, isNearby, isReachableHost, plainAddress } from '../peers/address-kinds.js'
import { isOurselves, type OwnMachine } from '../peers/own-machine.js'
import type { PeerTable } from '../peers/peer-table.js'
import type { DiscoveryPorts } from './discovery-ports.js'
import { isOnLink, type Link } from './links.js'
import { parseProbeReply, probeRequest } from './probe-message.js'
import { RateLimit } from './rate-limit.js'

const LISTENS_FOR_MS = 10_000
const RATES = { perSource: 8, total: 256 }
const MAX_BROADCASTS = 32

export interface ProbeAskerOptions {
  readonly clock: Clock
  readonly ports: Pick<DiscoveryPorts, 'createSocket' | 'probePort'>
  readonly peers: PeerTable
  readonly links: () => readonly Link[]
  readonly own: () => OwnMachine
  readonly onBroken: (cause: unknown) => void
}

export class ProbeAsker {
  readonly #socket: Socket
  readonly #options: ProbeAskerOptions
  readonly #rates: RateLimit
  #askedMs = Number.NEGATIVE_INFINITY
  #closed: Promise<void> | undefined

  /** Rejects if the system gives no socket that may broadcast. */
  static open(options: ProbeAskerOptions): Promise<ProbeAsker> {
    const socket = options.ports.createSocket({ type: 'udp4' })
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        socket.close()
        reject(cause)
      }
      socket.once('error', fail)
      socket.bind({ port: 0, exclusive: true }, () => {
        try {
          socket.setBroadcast(true)
        } catch (cause) {
          return fail(cause)
        }
        socket.off('error', fail)
        resolve(new ProbeAsker(socket, options))
      })
    })
  }

  private constructor(socket: Socket, options: ProbeAskerOptions) {
    this.#socket = socket
    this.#options = options
    this.#rates = new RateLimit(options.clock, RATES)
    socket.on('message', (datagram, from) => this.#hear(datagram, from))
    socket.on('error', (cause) => {
      void this.close()
      options.onBroken(cause)
    })
  }

  ask(): void {
    if (this.#closed) return
    this.#askedMs = this.#options.clock.bootMs()
    const broadcasts = this.#options
      .links()
      .flatMap(({ ipv4 }) =>
        ipv4.flatMap(({ address, broadcast }) => (address === broadcast ? [] : [broadcast]))
      )
    for (const broadcast of broadcasts.slice(0, MAX_BROADCASTS)) {
      // An interface that went since the last reading: the next round knows.
      this.#socket.send(probeRequest(), this.#options.ports.probePort, broadcast, () => {})
    }
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#socket.close(() => resolve()))
    return this.#closed
  }

  #hear(datagram: Buffer, { address }: RemoteInfo): void {
    const { clock, peers, links, own } = this.#options
    if (this.#closed || clock.bootMs() - this.#askedMs > LISTENS_FOR_MS) return
    const source = plainAddress(address)
    if (source === undefined || isLoopback(source) || !isReachableHost(source)) return
    if (!isNearby(source) && !isOnLink(links(), source)) return
    if (!this.#rates.admits(source)) return
    const claim = parseProbeReply(datagram)
    if (!claim || isOurselves(own(), { port: claim.port, addresses: [source], source })) return
    peers.saw({ claim, addresses: [source], source })
  }
}
