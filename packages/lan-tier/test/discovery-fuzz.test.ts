/**
 * Packets nobody should send, in number: nothing is thrown, nothing grows, and nobody comes of noise. 100,000 and more of
 * each, as `bench/lan/bench.mjs fuzz` sends them, fill every bounded table: then the heap must have come to rest.
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

interface Stream {
  readonly port: 5353 | 47891 | 0
  readonly make: (random: Random) => Buffer
}

/** Feeds `count` datagrams to one port; time passes, so that no rate limit spares the decoder anything. */
async function feed(net: StubbedDiscovery, { port, make }: Stream, count: number, random: Random) {
  for (let i = 0; i < count; i++) {
    net.socket(port).deliver(make(random), fuzzedSender(random))
    if (i % 50 !== 49) continue
    await net.clock.advance(1_000)
    // What was sent is the network's by now.
    for (const socket of net.sockets) socket.sent.length = 0
    net.events.length = Math.min(net.events.length, 1_000)
  }
}

const mishandled = ({ events }: StubbedDiscovery) =>
  events.filter((event) => event.kind === 'fault' && event.fault === 'packet-mishandled')

/** Bytes that each half of the datagrams has left on the heap. No datagram comes twice. */
async function growth(net: StubbedDiscovery, stream: Stream): Promise<[first: number, second: number]> {
  const random = seeded(SEED)
  // The code is compiled and the commonest tables are there.
  await feed(net, stream, Math.min(COUNT, 5_000), random)
  const heap = [heapBytes()]
  for (let half = 0; half < 2; half++) {
    await feed(net, stream, COUNT / 2, random)
    heap.push(heapBytes())
  }
  const [before = 0, between = 0, after = 0] = heap
  const kib = (bytes: number) => `${(bytes / 1_024).toFixed(0)} KiB`
  process.stdout.write(
    `${stream.make.name}, ${COUNT} at port ${stream.port}: heap ${kib(between - before)} more after the first half, ${kib(after - between)} after the second\n`
  )
  return [between - before, after - between]
}

const ENOUGH_BYTES = 8 * 1_024 * 1_024
/** From so many on, the first half fills every table. */
const FILLS_ALL = 100_000
const AT_REST_BYTES = 512 * 1_024

async function expectRest(net: StubbedDiscovery, stream: Stream): Promise<void> {
  const [first, second] = await growth(net, stream)
  expect(first).toBeLessThan(ENOUGH_BYTES)
  expect(second).toBeLessThan(COUNT >= FILLS_ALL ? AT_REST_BYTES : ENOUGH_BYTES)
}

test('noise at the multicast port makes no peer', async () => {
  const net = await stubbedDiscovery(5001)
  await expectRest(net, { port: 5353, make: noisePacket })
  expect(net.discovery.peers.list()).toEqual([])
  expect(mishandled(net)).toEqual([])
  await net.discovery.close()
  expect(net.clock.pendingTimers).toBe(0)
})

test('bent announcements make none that could not be one, and not too many', async () => {
  const net = await stubbedDiscovery(5001)
  await expectRest(net, { port: 5353, make: fuzzedPacket })
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
    await expectRest(net, { port, make: fuzzedProbe })
  }
  expect(net.discovery.peers.list()).toEqual([])
  await net.discovery.close()
  expect(net.clock.pendingTimers).toBe(0)
})
