/**
 * Answers UDP probes: whoever is nearby and asks in the protocol's words hears where we are, a few times a second at most
 * (a sender can be forged, and the answer is longer than the question). The port is not shared: of several instances on
 * one computer the first has it, and another takes over when that one has gone.
 */
import type { RemoteInfo, Socket, SocketType } from 'node:dgram'
import type { Clock } from '@agentmux/lease-model'
import { isNearby } from '../peers/address-kinds.js'
import type { PeerClaim } from '../peers/peer-claim.js'
import type { DiscoveryPorts } from './discovery-ports.js'
import { isProbeRequest, probeReply } from './probe-message.js'
import { RateLimit } from './rate-limit.js'

const RATES = { perSource: 4, total: 64 }

export interface ProbeListenerOptions {
  readonly clock: Clock
  readonly ports: Pick<DiscoveryPorts, 'createSocket' | 'probePort'>
  /** What to answer; undefined while nobody may reach us. */
  readonly us: () => PeerClaim | undefined
  readonly onBroken: (cause: unknown) => void
}

export class ProbeListener {
  readonly #socket: Socket
  readonly #options: ProbeListenerOptions
  readonly #rates: RateLimit
  #closed: Promise<void> | undefined

  /** Both families on one socket where the system has IPv6, else IPv4. Rejects if the port cannot be bound. */
  static async open(options: ProbeListenerOptions): Promise<ProbeListener> {
    try {
      return await ProbeListener.#bound('udp6', options)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EADDRINUSE') throw cause
      return await ProbeListener.#bound('udp4', options)
    }
  }

  private constructor(socket: Socket, options: ProbeListenerOptions) {
    this.#socket = socket
    this.#options = options
    this.#rates = new RateLimit(options.clock, RATES)
    socket.on('message', (datagram, from) => this.#answer(datagram, from))
    socket.on('error', (cause) => {
      void this.close()
      options.onBroken(cause)
    })
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => this.#socket.close(() => resolve()))
    return this.#closed
  }

  static #bound(type: SocketType, options: ProbeListenerOptions): Promise<ProbeListener> {
    const { createSocket, probePort } = options.ports
    const socket = createSocket({ type, reuseAddr: false })
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        socket.close()
        reject(cause)
      }
      socket.once('error', fail)
      socket.bind({ port: probePort, exclusive: true }, () => {
        socket.off('error', fail)
        resolve(new ProbeListener(socket, options))
      })
    })
  }

  #answer(datagram: Buffer, { address, port }: RemoteInfo): void {
    if (this.#closed || !isNearby(address) || port === 0) return
    const us = this.#options.us()
    if (!us || !this.#rates.admits(address) || !isProbeRequest(datagram)) return
    const reply = probeReply(us)
    // An answer that cannot be sent is one that was lost.
    if (reply) this.#socket.send(reply, port, address, () => {})
  }
}
