/** The addresses of this computer at which others on the network can reach it. Pure. */
import type { NetworkInterfaceInfo } from 'node:os'

export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>

/** What a computer has at most, containers and VPNs included; the rest is not served. */
const MAX_ADDRESSES = 64

/** Every IPv4 address that is not loopback, and every IPv6 address that is neither loopback nor link-local. */
export function lanAddresses(interfaces: Interfaces): string[] {
  const addresses = new Set<string>()
  for (const infos of Object.values(interfaces)) {
    for (const { address, family, internal } of infos ?? []) {
      if (internal || (family === 'IPv6' && isLinkLocal(address))) continue
      addresses.add(address)
    }
  }
  return [...addresses].slice(0, MAX_ADDRESSES)
}

/** fe80::/10 */
function isLinkLocal(address: string): boolean {
  return /^fe[89ab][0-9a-f]:/i.test(address)
}
