/** The records that describe us on one interface. Only that interface's own addresses: others may not be reachable from there. */
import type { DnsRecord } from './dns-message.js'
import type { Link } from './links.js'
import { SERVICE, SERVICE_TYPES, type ServiceNames } from './service-names.js'

export interface Advertisement {
  readonly names: ServiceNames
  readonly port: number
  readonly txt: readonly Buffer[]
  /** Seconds. */
  readonly hostTtl: number
  readonly serviceTtl: number
}

export interface ServiceRecords {
  readonly ptr: DnsRecord
  readonly srv: DnsRecord
  readonly txt: DnsRecord
  readonly addresses: readonly DnsRecord[]
  readonly types: DnsRecord
}

export function serviceRecords(ad: Advertisement, link: Link): ServiceRecords {
  const { names, port, hostTtl, serviceTtl } = ad
  const host = { name: names.host, ttl: hostTtl, class: 'IN' }
  return {
    ptr: { name: SERVICE, type: 'PTR', ttl: serviceTtl, class: 'IN', data: names.instance },
    srv: {
      name: names.instance,
      type: 'SRV',
      ttl: hostTtl,
      class: 'IN',
      flush: true,
      data: { priority: 0, weight: 0, port, target: names.host }
    },
    txt: {
      name: names.instance,
      type: 'TXT',
      ttl: serviceTtl,
      class: 'IN',
      flush: true,
      data: ad.txt
    },
    // The system's own responder has the same host name. These IPv4 addresses are all that it has, too; of IPv6 it may
    // have a link-local one, which a flush would make others forget.
    addresses: [
      ...link.ipv4.map(({ address }) => ({ ...host, type: 'A', flush: true, data: address })),
      ...link.ipv6.map((address) => ({ ...host, type: 'AAAA', data: address }))
    ],
    types: { name: SERVICE_TYPES, type: 'PTR', ttl: serviceTtl, class: 'IN', data: SERVICE }
  }
}

/** Whether anybody could reach us there. */
export const isReachableOn = (link: Link): boolean => link.ipv4.length + link.ipv6.length > 0

/** The same record, taken back. Never for addresses: the host keeps those, and another responder may announce them. */
export const goodbye = (record: DnsRecord): DnsRecord => ({ ...record, ttl: 0 })
