/**
 * Hears everything that discovery sends to everybody, without sending anything: `node packet-counter.mjs ADDRESS CARD`.
 * Says one JSON line for each packet: its port, its size, and whether it is a question.
 */
import { createSocket } from 'node:dgram'

const [, , address, card] = process.argv
const MDNS = 5353
const PROBE = 47_891

const hear = (port) => (packet, from) => {
  const kind = port === PROBE ? 'probe' : (packet[2] & 0x80) === 0 ? 'question' : 'answer'
  process.stdout.write(`${JSON.stringify({ kind, from: from.address, bytes: packet.length })}\n`)
}
const four = createSocket({ type: 'udp4', reuseAddr: true }).on('message', hear(MDNS))
four.bind(MDNS, '0.0.0.0', () => four.addMembership('224.0.0.251', address))
const six = createSocket({ type: 'udp6', reuseAddr: true, ipv6Only: true }).on('message', hear(MDNS))
six.bind(MDNS, '::', () => six.addMembership('ff02::fb', `::%${card}`))
const probe = createSocket({ type: 'udp4' }).on('message', hear(PROBE))
probe.bind(PROBE, '0.0.0.0')
