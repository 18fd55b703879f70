/**
 * Puts onto the network, by real multicast, what nobody should: `node noise-maker.mjs junk N` advertises N instances that
 * are not there, `malformed N` sends N packets that do not decode. Says `done` when everything is out.
 */
import { createSocket } from 'node:dgram'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'

const fromLibrary = createRequire(createRequire(import.meta.url).resolve('multicast-dns'))
const { encode } = fromLibrary('dns-packet')
const [, , kind, countText, address] = process.argv
const count = Number(countText)
const SERVICE = '_agentmux._tcp.local'
const PER_PACKET = 16

function junk(i) {
  const name = `agentmux-junk${i}-5001.${SERVICE}`
  const txt = ['version=1', `hostname=junk${i}`, `instance_id=junk${i}`, 'auth_key=k', 'channel=stable']
  return [
    { name: SERVICE, type: 'PTR', ttl: 4500, data: name },
    { name, type: 'SRV', ttl: 120, data: { port: 5001, target: 'junk.local' } },
    { name, type: 'TXT', ttl: 4500, data: txt.map((text) => Buffer.from(text)) }
  ]
}

const whole = encode({
  type: 'response',
  answers: [...junk(0), { name: 'junk.local', type: 'A', data: address }]
})
function malformed(i) {
  const packet = Buffer.from(whole)
  const kinds = [
    () => packet.subarray(0, 12 + (i % (packet.length - 12))),
    () => packet.fill(0xc0, 12),
    () => Buffer.concat([packet.subarray(0, 6), Buffer.from([0xff, 0xff]), packet.subarray(8)]),
    () => packet.fill(i & 255, 20),
    () => Buffer.alloc(i % 40, i & 255),
    () => Buffer.concat([packet, Buffer.alloc(9_000)])
  ]
  return kinds[i % kinds.length]()
}

const socket = createSocket({ type: 'udp4', reuseAddr: true })
await new Promise((resolve) => socket.bind(5353, '224.0.0.251', resolve))
socket.setMulticastInterface(address)
const send = (packet) => new Promise((resolve) => socket.send(packet, 5353, '224.0.0.251', resolve))
for (let i = 0; i < count; ) {
  if (kind === 'malformed') await send(malformed(i++))
  else {
    const answers = [{ name: 'junk.local', type: 'A', ttl: 120, data: address }]
    for (let n = 0; n < PER_PACKET && i < count; n++) answers.push(...junk(i++))
    await send(encode({ type: 'response', answers }))
  }
  if (i % 64 === 0) await sleep(5)
}
socket.close()
process.stdout.write('done\n')
