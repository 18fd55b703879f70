/**
 * What kind of address a string is. Strings that are no IP address are of no kind at all; IPv4-mapped IPv6 counts as
 * the IPv4 address inside it; a zone is left out of the judgement.
 */
import { BlockList, isIP, SocketAddress } from 'node:net'

function blockList(subnets: readonly [string, number][]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of subnets) {
    list.addSubnet(network, prefix, isIP(network) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

const LOOPBACK = blockList([
  ['127.0.0.0', 8],
  ['::1', 128]
])
const LINK_LOCAL = blockList([
  ['169.254.0.0', 16],
  ['fe80::', 10]
])
const PRIVATE = blockList([
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['fc00::', 7]
])
/** Nothing that a single computer can be reached at. */
const NOT_A_HOST = blockList([
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
  ['::', 128],
  ['ff00::', 8]
])

const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

/** One spelling for each address: lower case, no zone, IPv4 where it is only wrapped. Undefined if it is none. */
export function plainAddress(text: string): string | undefined {
  const address = text.split('%', 1)[0] ?? ''
  const family = isIP(address)
  if (family === 0) return undefined
  if (family === 4) return address
  const shortest = new SocketAddress({ address, family: 'ipv6' }).address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(shortest)?.[1]
  return mapped ?? shortest
}

export function isLoopback(text: string): boolean {
  const address = plainAddress(text)
  return address !== undefined && isIn(LOOPBACK, address)
}

export function isLinkLocal(text: string): boolean {
  const address = plainAddress(text)
  return address !== undefined && isIn(LINK_LOCAL, address)
}

/** Loopback, private, link-local or unique local: what may lie on the network at hand, and not across the internet. */
export function isNearby(text: string): boolean {
  const address = plainAddress(text)
  return address !== undefined && [LOOPBACK, PRIVATE, LINK_LOCAL].some((list) => isIn(list, address))
}

/** Whether another computer can be asked at it. Link-local IPv6 cannot, for want of a zone in a record. */
export function isReachableHost(text: string): boolean {
  const address = plainAddress(text)
  if (address === undefined || isIn(LOOPBACK, address) || isIn(NOT_A_HOST, address)) return false
  return isIP(address) === 4 || !isIn(LINK_LOCAL, address)
}

/** IPv4 before IPv6, otherwise in the order given. */
export function ipv4First(addresses: readonly string[]): string[] {
  return [...addresses.filter((a) => isIP(a) === 4), ...addresses.filter((a) => isIP(a) !== 4)]
}
