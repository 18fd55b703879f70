/**
 * Packets nobody should send, in number: nothing is thrown, nothing grows, and nobody comes of noise. The full count of
 * 100,000 each runs with bench/lan/fuzz.mjs.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { isReachableHost } from '../src/peers/address-kinds.js'
import { acceptClaim } from '../src/peers/peer-claim.js'
import { PEER_LIMITS } from '../src/peers/peer-table.js'
import {
  fuzzedPacket,
  fuzzedProbe,
  fuzzedSender,
  noisePacket,
  type Random,
  seeded
} from './harness/fuzzed-packets.js'
import { type StubbedDiscovery, stubbedDiscovery } from './harness/stub-socket.js'

const COUNT = Number(process.env.AGENTMUX_FUZZ_COUNT ?? 5_000)
const SEED = Number(process.env.AGENTMUX_FUZZ_SEED ?? 20_261)

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Feeds `count` datagrams to one port; time passes, so that no rate limit spares the decoder anything. */
async function feed(
  net: StubbedDiscovery,
  what: { port: 5353 | 47891 | 0; count: number; make: (r: Random) => Buffer }
) {
  const random = seeded(SEED)
  for (let i = 0; i < what.count; i++) {
    net.socket(what.port).deliver(what.make(random), fuzzedSender(random))
    if (i % 50 !== 49) continue
    await net.clock.advance(1_000)
    // What was sent is the network's by now.
    for (const socket of net.sockets) socket.sent.length = 0
    net.events.length = Math.min(net.events.length, 1_000)
  }
}

const mishandled = ({ events }: StubbedDiscovery) =>
  events.filter((event) => event.kind === 'fault' && event.fault === 'packet-mishandled')

async function growth(net: StubbedDiscovery, what: Parameters<typeof feed>[1]): Promise<number> {
  // Tables and caches fill up to their bounds first.
  await feed(net, { ...what, count: Math.min(what.count, 5_000) })
  const before = heapBytes()
  await feed(net, what)
  const grownBytes = heapBytes() - before
  process.stdout.write(
    `${what.count} datagrams at ${what.port}: heap ${Math.round(grownBytes / 1_024)} KiB more\n`
  )
  return grownBytes
}

const ENOUGH_BYTES = 8 * 1_024 * 1_024

test('noise at the multicast port makes no peer', async () => {
  const net = await stubbedDiscovery(5001)
  expect(await growth(net, { port: 5353, count: COUNT, make: noisePacket })).toBeLessThan(ENOUGH_BYTES)
  expect(net.discovery.peers.list()).toEqual([])
  expect(mishandled(net)).toEqual([])
  await net.discovery.close()
  expect(net.clock.pendingTimers).toBe(0)
})

test('bent announcements make none that could not be one, and not too many', async () => {
  const net = await stubbedDiscovery(5001)
  expect(await growth(net, { port: 5353, count: COUNT, make: fuzzedPacket })).toBeLessThan(ENOUGH_BYTES)
  const peers = net.discovery.peers.list()
  expect(peers.length).toBeLessThanOrEqual(PEER_LIMITS.total)
  for (const peer of peers) {
    expect(acceptClaim(peer)).toBeDefined()
    expect(peer.addresses.every(isReachableHost)).toBe(true)
    expect(peer.addresses.length).toBeLessThanOrEqual(PEER_LIMITS.addresses)
  }
  expect(mishandled(net)).toEqual([])
  await net.discovery.close()
  expect(net.clock.pendingTimers).toBe(0)
})

test('noise at the probe and at its asker makes no peer', async () => {
  const net = await stubbedDiscovery(5001)
  for (const port of [47_891, 0] as const) {
    expect(await growth(net, { port, count: COUNT, make: fuzzedProbe })).toBeLessThan(ENOUGH_BYTES)
  }
  expect(net.discovery.peers.list()).toEqual([])
  await net.discovery.close()
  expect(net.clock.pendingTimers).toBe(0)
})
