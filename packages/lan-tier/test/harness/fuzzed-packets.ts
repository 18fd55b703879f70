/** Packets that nobody should send: random bytes, well-formed strangers, and our own words bent. Reproducible by seed. */
import type { DnsMessage } from '../../src/discovery/dns-message.js'
import { SERVICE } from '../../src/discovery/service-names.js'
import { announcement } from './announcement.js'
import { encodePacket } from './dns-packet.js'

export type Random = () => number

/** Mulberry32. */
export function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const below = (random: Random, limit: number) => Math.floor(random() * limit)
const pick = <T>(random: Random, from: readonly T[]): T => from[below(random, from.length)] as T
const bytes = (random: Random, length: number) =>
  Buffer.from(Array.from({ length }, () => below(random, 256)))

/** A header that promises records, and anything behind it. */
function randomPacket(random: Random): Buffer {
  const packet = bytes(random, below(random, 600))
  if (packet.length >= 12 && random() < 0.8) {
    packet.writeUInt16BE(random() < 0.5 ? 0x8400 : 0, 2)
    for (const at of [4, 6, 8, 10]) packet.writeUInt16BE(below(random, 4), at)
  }
  return packet
}

const TYPES = ['A', 'AAAA', 'PTR', 'TXT', 'SRV']

function wordsOf(random: Random) {
  const label = Array.from({ length: 1 + below(random, 60) }, () =>
    String.fromCharCode(33 + below(random, 90))
  ).join('')
  return { label: label.replaceAll('.', '-'), id: below(random, 1_000_000) }
}

/** Decodes well; about other services, or about ours with values that no peer has. */
function strangePacket(random: Random): Buffer {
  const { label } = wordsOf(random)
  const name = random() < 0.5 ? `${label}.${SERVICE}` : `${label}._other._tcp.local`
  const record = (type: string): DnsMessage => {
    const data = {
      A: pick(random, ['127.0.0.1', '8.8.8.8', '0.0.0.0', '255.255.255.255', '10.0.0.1']),
      AAAA: pick(random, ['::1', 'fe80::1', '::', 'ff02::fb']),
      PTR: name,
      TXT: [Buffer.from(pick(random, ['instance_id=', 'auth_key', '=', `instance_id=${'x'.repeat(150)}`]))],
      SRV: { priority: 0, weight: 0, port: below(random, 1_024), target: `${label}.local` }
    }[type]
    const answers = [{ name: type === 'PTR' ? SERVICE : name, type, ttl: below(random, 2 ** 31), data }]
    return random() < 0.5
      ? { type: 'response', answers }
      : { type: 'query', questions: [{ name, type }], answers, authorities: answers }
  }
  return encodePacket(record(pick(random, TYPES)))
}

/** An announcement that would be believed, with some of its bytes changed, cut off, doubled or moved. */
function bentPacket(random: Random): Buffer {
  const { label, id } = wordsOf(random)
  const host = `h${id % 97}`
  const address = `10.0.${id % 3}.${id % 251}`
  const packet = encodePacket(
    announcement({ label, host, address, port: 1_024 + (id % 60_000), instanceId: `${id}` })
  )
  for (let i = below(random, 12); i >= 0; i--) packet[below(random, packet.length)] = below(random, 256)
  const cut = random() < 0.3 ? packet.subarray(0, below(random, packet.length)) : packet
  return random() < 0.1 ? Buffer.concat([cut, cut]) : cut
}

/** Noise alone, from which nobody may come; then also bent announcements, from which somebody can. */
export const noisePacket = (random: Random): Buffer =>
  random() < 0.5 ? randomPacket(random) : strangePacket(random)
export const fuzzedPacket = (random: Random): Buffer =>
  random() < 0.5 ? noisePacket(random) : bentPacket(random)

/** Datagrams at the probe's port, and at the asker's: never a whole answer. */
export function fuzzedProbe(random: Random): Buffer {
  const words = [
    '{"type":"agentmux_discover","v":1}',
    '{"type":"agentmux_discover_response","v":1,"port":5001}',
    '{}'
  ]
  const text = Buffer.from(pick(random, words))
  const kind = random()
  if (kind < 0.3) return bytes(random, below(random, 1_500))
  if (kind < 0.6) return text.subarray(0, below(random, text.length))
  for (let i = below(random, 4); i >= 0; i--) text[below(random, text.length)] = below(random, 256)
  return text
}

/** Anybody on the network may be the sender. */
export function fuzzedSender(random: Random): { address: string; port: number } {
  const host = below(random, 250) + 2
  const address = pick(random, [
    `10.0.0.${host}`,
    `10.0.1.${host}`,
    `fe80::${host}%eth0`,
    '8.8.8.8',
    '127.0.0.1'
  ])
  return { address, port: random() < 0.8 ? 5_353 : below(random, 65_536) }
}
