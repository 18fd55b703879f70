/**
 * One multicast DNS socket of one address family, joined on every interface that lets it. The library's own `interface`
 * option would bind the unicast address, which hears no multicast on Linux, and its own joining takes one address per
 * interface and never learns that an interface went: so it gets a bound socket and joins nothing. Sends are one after
 * the other, because the interface to send on is a property of the socket. Nothing here throws after `open`.
 */
import type { RemoteInfo, Socket } from 'node:dgram'
import multicastDns from 'multicast-dns'
import type { DiscoveryPorts } from './discovery-ports.js'
import type { DnsMessage } from './dns-message.js'
import type { Link } from './links.js'
import { isWorthDecoding } from './packet-check.js'

export type Family = 'IPv4' | 'IPv6'

const GROUPS = { IPv4: '224.0.0.251', IPv6: 'ff02::fb' } as const
/** Bound to the group, a socket on Linux hears no unicast and so takes none away from the system's own responder. */
const BIND_TO = { IPv4: process.platform === 'linux' ? GROUPS.IPv4 : '0.0.0.0', IPv6: '::' } as const
const MAX_QUEUED = 256

export interface MulticastSocketOptions {
  readonly family: Family
  readonly ports: DiscoveryPorts
  /** Asked before a packet is decoded. */
  readonly admits: (source: string, bytes: number) => boolean
  readonly onMessage: (message: DnsMessage, from: RemoteInfo) => void
  /** How a join or a send on an interface went; no cause means well. */
  readonly onLink: (did: 'joined' | 'sent', link: string, cause?: unknown) => void
  /** The socket is of no use any more; already closed. */
  readonly onBroken: (cause: unknown) => void
}

/** Where a message goes: to the group on one interface, or to one address. */
export type Target = { readonly link: Link } | { readonly address: string; readonly port: number }

export class MulticastSocket {
  readonly family: Family
  readonly #options: MulticastSocketOptions
  readonly #socket: Socket
  readonly #mdns: multicastDns.MulticastDNS
  readonly #joined = new Map<string, string>()
  readonly #queue: { message: DnsMessage; target: Target }[] = []
  #sending: Promise<void> | undefined
  #closed: Promise<void> | undefined

  /** Rejects if the port cannot be bound. */
  static async open(options: MulticastSocketOptions): Promise<MulticastSocket> {
    const opened = new MulticastSocket(options)
    await opened.#ready()
    return opened
  }

  private constructor(options: MulticastSocketOptions) {
    const { family, ports } = options
    this.family = family
    this.#options = options
    this.#socket = ports.createSocket(
      family === 'IPv4'
        ? { type: 'udp4', reuseAddr: true }
        : { type: 'udp6', reuseAddr: true, ipv6Only: true }
    )
    this.#mdns = multicastDns({
      socket: this.#socket,
      type: family === 'IPv4' ? 'udp4' : 'udp6',
      port: ports.mdnsPort,
      bind: BIND_TO[family],
      multicast: false,
      ip: GROUPS[family],
      interface: BIND_TO[family]
    } as multicastDns.Options)
    this.#admitBeforeDecoding()
    this.#mdns.on('packet', (message: DnsMessage, from: RemoteInfo) => options.onMessage(message, from))
    // What does not decode is noise, and what the socket reports is found by the sends and joins that fail.
    this.#mdns.on('warning', () => {})
  }

  /** Interfaces on which it listens. */
  get joined(): readonly string[] {
    return [...this.#joined.keys()]
  }

  /** Joins on every link that has this family; a link that cannot be joined is reported and the rest go on. */
  join(links: readonly Link[]): void {
    if (this.#closed) return
    const wanted = new Map<string, string>()
    for (const link of links) {
      const address = localAddress(link, this.family)
      if (address !== undefined) wanted.set(link.name, address)
    }
    // What is gone is left first: an address that moved to another name, or a new address on the same card, is
    // the same membership to the kernel.
    for (const [name, address] of this.#joined) {
      if (wanted.get(name) === address) continue
      this.#joined.delete(name)
      try {
        this.#socket.dropMembership(GROUPS[this.family], address)
      } catch {
        // It went with the interface.
      }
    }
    for (const [name, address] of wanted) this.#joinOne(name, address)
  }

  /** Sends when its turn comes. More than the queue holds is left out: multicast is unreliable anyhow. */
  send(message: DnsMessage, target: Target): void {
    if (this.#closed || this.#queue.length >= MAX_QUEUED) return
    this.#queue.push({ message, target })
    this.#sending ??= this.#drain()
  }

  /** Resolves once everything queued has been sent, or could not be. */
  async flushed(): Promise<void> {
    await this.#sending
  }

  close(): Promise<void> {
    this.#queue.length = 0
    this.#closed ??= new Promise((resolve) => {
      try {
        this.#mdns.destroy(() => resolve())
      } catch {
        resolve()
      }
    })
    return this.#closed
  }

  #ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown) => {
        void this.close()
        reject(cause)
      }
      this.#mdns.once('error', fail)
      this.#mdns.once('ready', () => {
        this.#mdns.off('error', fail)
        try {
          this.#socket.setMulticastTTL(255)
          this.#socket.setMulticastLoopback(true)
        } catch (cause) {
          return fail(cause)
        }
        this.#mdns.on('error', (cause) => {
          void this.close()
          this.#options.onBroken(cause)
        })
        resolve()
      })
    })
  }

  #admitBeforeDecoding(): void {
    const decoders = this.#socket.listeners('message') as ((packet: Buffer, from: RemoteInfo) => void)[]
    this.#socket.removeAllListeners('message')
    this.#socket.on('message', (packet: Buffer, from: RemoteInfo) => {
      if (this.#closed || !this.#options.admits(from.address, packet.byteLength) || !isWorthDecoding(packet))
        return
      for (const decode of decoders) decode(packet, from)
    })
  }

  #joinOne(name: string, address: string): void {
    try {
      this.#socket.addMembership(GROUPS[this.family], address)
    } catch (cause) {
      // Joined already, which is asked each time because a new card under an old name is not.
      if ((cause as NodeJS.ErrnoException).code !== 'EADDRINUSE') {
        this.#joined.delete(name)
        this.#options.onLink('joined', name, cause)
        return
      }
    }
    this.#joined.set(name, address)
    this.#options.onLink('joined', name)
  }

  async #drain(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      await this.#sendOne(next.message, next.target)
    }
    this.#sending = undefined
  }

  #sendOne(message: DnsMessage, target: Target): Promise<void> {
    return new Promise((resolve) => {
      const done = (cause?: unknown) => {
        if ('link' in target) this.#options.onLink('sent', target.link.name, cause ?? undefined)
        resolve()
      }
      try {
        if ('link' in target) {
          const address = localAddress(target.link, this.family)
          if (address === undefined) return resolve()
          this.#socket.setMulticastInterface(address)
        }
        const to = 'link' in target ? { port: this.#options.ports.mdnsPort } : target
        const packet = message as multicastDns.QueryOutgoingPacket & multicastDns.ResponseOutgoingPacket
        if (message.type === 'query') this.#mdns.query(packet, to, done)
        else this.#mdns.respond(packet, to, done)
      } catch (cause) {
        done(cause)
      }
    })
  }
}

/** What the socket calls knows an interface by: its first IPv4 address, or the zone for IPv6. */
function localAddress(link: Link, family: Family): string | undefined {
  if (family === 'IPv4') return link.ipv4[0]?.address
  return link.hasIpv6 ? `::%${link.name}` : undefined
}
