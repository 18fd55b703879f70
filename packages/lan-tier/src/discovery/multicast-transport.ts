/**
 * The multicast sockets of both families, opened when there is something to join and again after they broke. Sending
 * goes to every family that works on a link; what cannot be sent is told once and is otherwise as if it were lost.
 */
import type { RemoteInfo } from 'node:dgram'
import type { Clock } from '@agentmux/lease-model'
import { isNearby } from '../peers/address-kinds.js'
import type { DiscoveryPorts } from './discovery-ports.js'
import type { DnsMessage } from './dns-message.js'
import type { FaultLog } from './fault-log.js'
import type { Link } from './links.js'
import { type Family, MulticastSocket } from './multicast-socket.js'
import { RateLimit } from './rate-limit.js'
import type { Sender } from './sender.js'

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6']
/** What is looked at in a second: 500 peers that answer one question at once are far below. */
const PACKET_RATES = { perSource: 64, total: 1_000 }
const BYTE_RATES = { perSource: 64_000, total: 800_000 }
/** Answers to one address go where a forged sender points, so there are few. */
const UNICAST_RATES = { perSource: 2, total: 16 }

const NEWS_AFTER_MS = 2_000

export interface MulticastTransportOptions {
  readonly clock: Clock
  readonly ports: DiscoveryPorts
  readonly faults: FaultLog
  readonly onMessage: (message: DnsMessage, from: RemoteInfo, family: Family) => void
  /** An interface failed: the reading of them may be out of date. */
  readonly onTrouble: () => void
}

export class MulticastTransport implements Sender {
  readonly #options: MulticastTransportOptions
  readonly #sockets = new Map<Family, MulticastSocket>()
  readonly #unicastRates: RateLimit
  #refreshing: Promise<void> = Promise.resolve()
  #closed = false
  #cause: unknown
  #known: ReadonlySet<string> = new Set()
  readonly #failingSinceMs = new Map<string, number>()

  constructor(options: MulticastTransportOptions) {
    this.#options = options
    this.#unicastRates = new RateLimit(options.clock, UNICAST_RATES)
  }

  /** Interfaces on which at least one family listens. */
  get joined(): ReadonlySet<string> {
    return new Set([...this.#sockets.values()].flatMap(({ joined }) => joined))
  }

  /** Why nothing is joined, as far as that is known. */
  get cause(): unknown {
    return this.#cause
  }

  /** Opens what is missing and joins these links. Never rejects. */
  refresh(links: readonly Link[]): Promise<void> {
    this.#refreshing = this.#refreshing.then(() => this.#refresh(links))
    return this.#refreshing
  }

  toLink(message: DnsMessage, link: Link, family?: Family): void {
    for (const socket of this.#sockets.values()) {
      if (family === undefined || family === socket.family) socket.send({ ...message }, { link })
    }
  }

  toAsker(message: DnsMessage, asker: { address: string; port: number; family: Family }): void {
    const { address, port, family } = asker
    if (!isNearby(address) || port === 0 || !this.#unicastRates.admits(address)) return
    this.#sockets.get(family)?.send({ ...message }, { address, port })
  }

  /** Resolves once everything queued has been sent or was lost. */
  async flushed(): Promise<void> {
    await Promise.all([...this.#sockets.values()].map((socket) => socket.flushed()))
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#refreshing
    await Promise.all([...this.#sockets.values()].map((socket) => socket.close()))
    this.#sockets.clear()
  }

  async #refresh(links: readonly Link[]): Promise<void> {
    this.#forget(links)
    for (const family of FAMILIES) {
      const has = (link: Link) => (family === 'IPv4' ? link.ipv4.length > 0 : link.hasIpv6)
      if (this.#closed) return
      if (!this.#sockets.has(family) && links.some(has)) await this.#open(family)
      if (!this.#closed) this.#sockets.get(family)?.join(links)
    }
    if (this.#closed) return
    if (this.joined.size > 0) this.#options.faults.over('multicast-unavailable')
    else this.#options.faults.began('multicast-unavailable', { cause: this.#cause })
  }

  #onJoin(link: string, cause: unknown): void {
    const { faults } = this.#options
    if (cause === undefined) {
      faults.over('interface-not-joined', link)
      return
    }
    this.#cause = cause
    faults.began('interface-not-joined', { on: link, cause })
  }

  /** A card that has just come up, or is about to go, fails for a moment; that is no news. */
  #onSend(link: string, cause: unknown): void {
    const { clock, faults, onTrouble } = this.#options
    if (cause === undefined) {
      this.#failingSinceMs.delete(link)
      faults.over('interface-not-sending', link)
      return
    }
    this.#cause = cause
    const sinceMs = this.#failingSinceMs.get(link) ?? clock.bootMs()
    this.#failingSinceMs.set(link, sinceMs)
    if (clock.bootMs() - sinceMs >= NEWS_AFTER_MS) faults.began('interface-not-sending', { on: link, cause })
    onTrouble()
  }

  /** What is told of an interface ends with it. */
  #forget(links: readonly Link[]): void {
    const names = new Set(links.map(({ name }) => name))
    for (const gone of [...this.#known].filter((name) => !names.has(name))) {
      for (const link of [gone, `${gone} (IPv6)`]) {
        this.#failingSinceMs.delete(link)
        this.#options.faults.over('interface-not-joined', link)
        this.#options.faults.over('interface-not-sending', link)
      }
    }
    this.#known = names
  }

  async #open(family: Family): Promise<void> {
    const { clock, ports, faults, onMessage, onTrouble } = this.#options
    const packets = new RateLimit(clock, PACKET_RATES)
    const bytes = new RateLimit(clock, BYTE_RATES)
    const named = (link: string) => (family === 'IPv4' ? link : `${link} (IPv6)`)
    try {
      const socket = await MulticastSocket.open({
        family,
        ports,
        admits: (source, size) => packets.admits(source) && bytes.admits(source, size),
        onMessage: (message, from) => {
          try {
            onMessage(message, from, family)
          } catch (cause) {
            faults.began('packet-mishandled', { cause })
          }
        },
        onLink: (did, link, cause) => {
          if (did === 'joined') this.#onJoin(named(link), cause)
          else this.#onSend(named(link), cause)
        },
        onBroken: (cause) => {
          this.#cause = cause
          this.#sockets.delete(family)
          onTrouble()
        }
      })
      this.#sockets.set(family, socket)
    } catch (cause) {
      this.#cause = cause
    }
  }
}
