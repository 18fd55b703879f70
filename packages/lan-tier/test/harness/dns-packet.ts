/** The codec of the library, for what tests put on the wire. */
import { createRequire } from 'node:module'
import type { DnsMessage } from '../../src/discovery/dns-message.js'

const fromHere = createRequire(import.meta.url)
const fromTheLibrary = createRequire(fromHere.resolve('multicast-dns'))
const codec = fromTheLibrary('dns-packet') as {
  encode(message: DnsMessage): Buffer
  decode(packet: Uint8Array): DnsMessage
}

export const encodePacket = (message: DnsMessage): Buffer => codec.encode(message)
export const decodePacket = (packet: Uint8Array): DnsMessage => codec.decode(packet)
