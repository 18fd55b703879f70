/**
 * Which addresses are on a network of this computer. A peer record may carry any address at all; questions, and the UIDs in
 * them, go to private addresses and to the links of our own interfaces, and nowhere else.
 */
import { BlockList, isIPv4 } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import { isLinkLocal, isLoopback, isNearby, isReachableHost, plainAddress } from '../peers/address-kinds.js'

export type Interfaces = () => Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>

export interface LocalNetworkOptions {
  /** The system's own unless given. */
  readonly interfaces?: Interfaces
  /** Whether this computer's own loopback counts: where several instances on one computer ask each other. */
  readonly loopback?: boolean
}

/** An address as a socket takes it. */
export interface LocalAddress {
  /** With its scope, where it is link-local IPv6. */
  readonly host: string
  /** As in a URL: IPv6 in brackets, without its scope. */
  readonly urlHost: string
}

export class LocalNetwork {
  readonly #interfaces: Interfaces
  readonly #loopback: boolean

  constructor(options: LocalNetworkOptions = {}) {
    this.#interfaces = options.interfaces ?? networkInterfaces
    this.#loopback = options.loopback ?? false
  }

  /** As the interfaces are now: for one round of questions. Undefined for what is not to be asked. */
  reach(): (address: string) => LocalAddress | undefined {
    const links = new BlockList()
    for (const each of Object.values(this.#interfaces()).flat()) addLink(links, each)
    return (address) => this.#local(address, links)
  }

  #local(address: string, links: BlockList): LocalAddress | undefined {
    const ip = plainAddress(address)
    if (ip === undefined) return undefined
    const zone = address.includes('%') ? address.slice(address.indexOf('%')) : ''
    const urlHost = isIPv4(ip) ? ip : `[${ip}]`
    if (isLoopback(ip)) return this.#loopback && zone === '' ? { host: ip, urlHost } : undefined
    if (!isIPv4(ip) && isLinkLocal(ip)) {
      // Without its zone nobody knows which link is meant.
      return ZONE.test(zone) ? { host: ip + zone, urlHost } : undefined
    }
    if (zone !== '' || !isReachableHost(ip)) return undefined
    const near = isNearby(ip) || links.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6')
    return near ? { host: ip, urlHost } : undefined
  }
}

/** The name or number of an interface. */
const ZONE = /^%[A-Za-z0-9._:@-]{1,32}$/

function addLink(links: BlockList, each: NetworkInterfaceInfo | undefined): void {
  const [address, prefix] = each?.cidr?.split('/') ?? []
  if (each === undefined || each.internal || address === undefined || prefix === undefined) return
  // The whole Internet as one link is a tunnel's claim, not a network of computers next to each other.
  if (Number(prefix) < 8) return
  links.addSubnet(address, Number(prefix), each.family === 'IPv4' ? 'ipv4' : 'ipv6')
}
