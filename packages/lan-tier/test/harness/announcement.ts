/** What an instance puts on the wire about itself, for tests that speak in its place. */
import type { DnsMessage, DnsRecord } from '../../src/discovery/dns-message.js'
import { SERVICE } from '../../src/discovery/service-names.js'
import { encodeTxt } from '../../src/discovery/txt-record.js'

export interface AnnouncedInstance {
  readonly label: string
  readonly host: string
  readonly address: string
  readonly port: number
  readonly instanceId: string
}

export function announcedRecords(instance: AnnouncedInstance, ttl = 4_500): DnsRecord[] {
  const { label, host, address, port, instanceId } = instance
  const name = `${label}.${SERVICE}`
  const txt = { version: '1', hostname: host, instance_id: instanceId, auth_key: 'key', channel: 'stable' }
  return [
    { name: SERVICE, type: 'PTR', class: 'IN', ttl, data: name },
    {
      name,
      type: 'SRV',
      class: 'IN',
      ttl,
      flush: true,
      data: { priority: 0, weight: 0, port, target: `${host}.local` }
    },
    { name, type: 'TXT', class: 'IN', ttl, flush: true, data: encodeTxt(txt) },
    { name: `${host}.local`, type: 'A', class: 'IN', ttl, flush: true, data: address }
  ]
}

export const announcement = (...instances: readonly AnnouncedInstance[]): DnsMessage => ({
  type: 'response',
  answers: instances.flatMap((instance) => announcedRecords(instance))
})
