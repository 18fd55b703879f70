/** Whether somebody else uses our names. Another responder of this machine is nobody else. */
import { plainAddress } from '../peers/address-kinds.js'
import { type DnsMessage, type DnsRecord, sameName } from './dns-message.js'
import type { ServiceNames } from './service-names.js'

export interface OurClaim {
  readonly names: ServiceNames
  readonly port: number
  readonly txt: readonly Buffer[]
  /** Every address of this machine. */
  readonly addresses: ReadonlySet<string>
}

const bytesOf = (txt: unknown): Buffer =>
  Buffer.concat((Array.isArray(txt) ? txt : [txt]).filter((part) => Buffer.isBuffer(part)))

const isSrvData = (data: unknown): data is { port: number; target: string } =>
  typeof data === 'object' && data !== null && 'port' in data && 'target' in data

/** One of the records is for a name of ours and says something else. */
export function contradicts(records: readonly DnsRecord[], ours: OurClaim): boolean {
  return records.some(({ name, type, ttl, data }) => {
    if (ttl === 0) return false
    if (sameName(name, ours.names.instance)) {
      if (type === 'TXT') return !bytesOf(data).equals(bytesOf(ours.txt))
      return type === 'SRV' && isSrvData(data) && data.port !== ours.port
    }
    if (!sameName(name, ours.names.host) || (type !== 'A' && type !== 'AAAA')) return false
    return typeof data === 'string' && !ours.addresses.has(plainAddress(data) ?? data)
  })
}

/** Two want one name at the same time: the TXT records differ, since each has its own key, and the greater one gets it. */
export function losesTo(probe: DnsMessage, ours: OurClaim): boolean {
  const theirs = (probe.authorities ?? []).filter((record) => contradicts([record], ours))
  if (theirs.length === 0) return false
  const txt = theirs.find(({ name, type }) => type === 'TXT' && sameName(name, ours.names.instance))
  // Only the host's name is contested, by something that is not one of us: it may have it.
  return txt === undefined || Buffer.compare(bytesOf(txt.data), bytesOf(ours.txt)) > 0
}
