/**
 * The network interfaces that discovery uses: every one but loopback that has an address. Read afresh each time; whoever
 * keeps a reading has to expect that the interface is gone, renamed or readdressed.
 */
import { BlockList, isIP } from 'node:net'
import type { NetworkInterfaceInfo } from 'node:os'
import { isLinkLocal, plainAddress } from '../peers/address-kinds.js'

export interface Link {
  readonly name: string
  /** In the system's order; the first one is used to send from. */
  readonly ipv4: readonly Ipv4OnLink[]
  /** What others may be told: no link-local ones. */
  readonly ipv6: readonly string[]
  readonly hasIpv6: boolean
  readonly onLink: BlockList
}

export interface Ipv4OnLink {
  readonly address: string
  readonly broadcast: string
}

export interface LinkReading {
  readonly links: readonly Link[]
  /** Every address of this machine, plain, loopback included. */
  readonly addresses: ReadonlySet<string>
  /** Differs when anything about the links does. */
  readonly signature: string
}

export type ReadInterfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

export const NO_LINKS: LinkReading = { links: [], addresses: new Set(), signature: '' }

export function readLinks(interfaces: ReadInterfaces): LinkReading {
  const links: Link[] = []
  const addresses = new Set<string>()
  // A card that was replaced between two readings has its name and its addresses, and has joined nothing.
  const cards: unknown[] = []
  for (const [name, infos = []] of Object.entries(interfaces())) {
    for (const { address } of infos) addresses.add(plainAddress(address) ?? address)
    const usable = infos.filter((info) => !info.internal)
    if (usable.length === 0) continue
    links.push(linkOf(name, usable))
    cards.push([name, usable.map(({ cidr, address, mac, scopeid }) => [cidr ?? address, mac, scopeid])])
  }
  return { links, addresses, signature: JSON.stringify(cards) }
}

function linkOf(name: string, infos: readonly NetworkInterfaceInfo[]): Link {
  const onLink = new BlockList()
  for (const { address, cidr } of infos) {
    const prefix = Number(cidr?.split('/')[1])
    const plain = plainAddress(address)
    if (plain && Number.isInteger(prefix))
      onLink.addSubnet(plain, prefix, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
  }
  const of = (family: 'IPv4' | 'IPv6') => infos.filter((info) => info.family === family)
  return {
    name,
    ipv4: of('IPv4').map(({ address, netmask }) => ({ address, broadcast: broadcastOf(address, netmask) })),
    ipv6: of('IPv6').flatMap(({ address }) =>
      isLinkLocal(address) ? [] : [plainAddress(address) ?? address]
    ),
    hasIpv6: of('IPv6').length > 0,
    onLink
  }
}

function broadcastOf(address: string, netmask: string): string {
  const mask = netmask.split('.').map(Number)
  return address
    .split('.')
    .map((byte, i) => (Number(byte) | (~(mask[i] ?? 255) & 255)).toString())
    .join('.')
}

/** Whether an address lies on one of the links. */
export function isOnLink(links: readonly Link[], address: string): boolean {
  return linksTowards(links, address).length > 0
}

/** The links that a sender may be on: by the zone in its address, else by subnet; all of them if that tells nothing. */
export function linksOfSender(links: readonly Link[], address: string): readonly Link[] {
  const zone = address.split('%')[1]
  const found = zone === undefined ? linksTowards(links, address) : links.filter(({ name }) => name === zone)
  return found.length > 0 ? found : links
}

function linksTowards(links: readonly Link[], address: string): readonly Link[] {
  const plain = plainAddress(address)
  if (plain === undefined) return []
  return links.filter(({ onLink }) => onLink.check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6'))
}
