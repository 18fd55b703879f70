/**
 * Which addresses are on a network of this computer. A peer record may carry any address at all; questions, and the UIDs in
 * them, go to private addresses and to the links of our own interfaces, and nowhere else.
 */
import { BlockList, isIP, isIPv4 } from 'node:net'
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'

export type Interfaces = () => Readonly<Record<string, NetworkInterfaceInfo[] | undefined>>

export interface LocalNetworkOptions {
  /** The system's own unless given. */
  readonly interfaces?: Interfaces
  /** Whether this computer's own loopback counts: where several instances on one computer ask each other. */
  readonly loopback?: boolean
}

/** Private, link-local, shared by carriers, unique local. */
const PRIVATE: readonly (readonly [string, number])[] = [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
  ['fe80::', 10],
  ['fc00::', 7]
]
/** Nobody listens on one of these for us: unspecified, multicast, reserved. */
const NEVER: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
  ['::', 128],
  ['ff00::', 8]
]
const LOOPBACK: readonly (readonly [string, number])[] = [
  ['127.0.0.0', 8],
  ['::1', 128]
]

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
  readonly #never = blockList(NEVER)
  readonly #ofLoopback = blockList(LOOPBACK)

  constructor(options: LocalNetworkOptions = {}) {
    this.#interfaces = options.interfaces ?? networkInterfaces
    this.#loopback = options.loopback ?? false
  }

  /** As the interfaces are now: for one round of questions. Undefined for what is not to be asked. */
  reach(): (address: string) => LocalAddress | undefined {
    const links = blockList(PRIVATE)
    for (const each of Object.values(this.#interfaces()).flat()) addLink(links, each)
    return (address) => this.#local(address, links)
  }

  #local(address: string, links: BlockList): LocalAddress | undefined {
    const [plain = '', scope] = splitScope(address)
    const version = isIP(plain)
    if (version === 0) return undefined
    const mapped = version === 6 ? mappedIPv4(plain) : undefined
    const ip = mapped ?? plain
    const family = isIPv4(ip) ? 'ipv4' : 'ipv6'
    if (this.#never.check(ip, family)) return undefined
    if (this.#ofLoopback.check(ip, family)) {
      return this.#loopback ? { host: ip, urlHost: inUrl(ip) } : undefined
    }
    if (!links.check(ip, family)) return undefined
    const linkLocal = family === 'ipv6' && /^fe[89ab]/i.test(ip)
    // Without its scope nobody knows which link is meant.
    if (linkLocal !== (scope !== undefined)) return undefined
    return { host: scope === undefined ? ip : `${ip}%${scope}`, urlHost: inUrl(ip) }
  }
}

function blockList(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, isIPv4(address) ? 'ipv4' : 'ipv6')
  return list
}

function addLink(links: BlockList, each: NetworkInterfaceInfo | undefined): void {
  const [address, prefix] = each?.cidr?.split('/') ?? []
  if (each === undefined || each.internal || address === undefined || prefix === undefined) return
  // The whole Internet as one link is a tunnel's claim, not a network of computers next to each other.
  if (Number(prefix) < 8) return
  links.addSubnet(address, Number(prefix), each.family === 'IPv4' ? 'ipv4' : 'ipv6')
}

function splitScope(address: string): [string, string | undefined] {
  const at = address.indexOf('%')
  if (at < 0) return [address, undefined]
  const scope = address.slice(at + 1)
  return /^[A-Za-z0-9._:@-]{1,32}$/.test(scope) ? [address.slice(0, at), scope] : ['', undefined]
}

/** The IPv4 address of `::ffff:10.0.0.1`, in whichever way it is written. */
function mappedIPv4(address: string): string | undefined {
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const groups = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical)
  if (groups === null) return undefined
  const [high, low] = [Number.parseInt(groups[1] ?? '', 16), Number.parseInt(groups[2] ?? '', 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

function inUrl(ip: string): string {
  return isIPv4(ip) ? ip : `[${new URL(`http://[${ip}]`).hostname.slice(1, -1)}]`
}
