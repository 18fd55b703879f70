/** Interfaces that go, come, change their name or address while discovery runs; and a process that does not run for a while. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type VirtualHost, VirtualNetwork } from '../../../test/net/index.js'
import { DiscoveringHost, idsOf } from './harness/discovering-host.js'

const timings = { watchMs: 300 }
let network: VirtualNetwork
let mill: VirtualHost
let barn: VirtualHost
let a: DiscoveringHost
let b: DiscoveringHost

beforeEach(async () => {
  network = VirtualNetwork.create()
  mill = network.addHost({ hostname: 'mill' })
  barn = network.addHost({ hostname: 'barn' })
})
afterEach(() => network.remove())

async function discoverEachOther(more = {}): Promise<void> {
  a = await DiscoveringHost.start(mill, { port: 5001, timings: { ...timings, ...more } })
  b = await DiscoveringHost.start(barn, { port: 5001, timings: { ...timings, ...more } })
  await a.peersOnce((peers) => idsOf(peers).includes('barn/5001'))
  await b.peersOnce((peers) => idsOf(peers).includes('mill/5001'))
}

/** What only happens after the change: each is seen again by the other. */
async function seenAgain(since: { a: number; b: number }, address = mill.address): Promise<void> {
  await a.peersOnce((peers) => peers.some(({ lastSeenMs }) => lastSeenMs > since.a))
  await b.peersOnce((peers) => peers.some((peer) => peer.lastSeenMs > since.b && peer.address === address))
}

async function lastSeen(): Promise<{ a: number; b: number }> {
  const [fromA, fromB] = [await a.peers(), await b.peers()]
  return { a: fromA[0]?.lastSeenMs ?? 0, b: fromB[0]?.lastSeenMs ?? 0 }
}

/** The announcements after a start are over, so that what comes later has its reason in the change. */
const settled = () => sleep(4_000)

describe('an interface', () => {
  test('that goes and comes back is joined again, and no peer was lost', async () => {
    await discoverEachOther()
    await settled()
    const before = await lastSeen()
    mill.unplug()
    await a.waitFor(({ kind, fault }) => kind === 'fault' && fault === 'multicast-unavailable')
    expect(await a.state()).toMatchObject({ multicast: 'unavailable', interfaces: [] })
    expect(idsOf(await a.peers())).toEqual(['barn/5001'])
    expect(idsOf(await b.peers())).toEqual(['mill/5001'])
    mill.plug()
    await a.waitFor(({ kind, fault }) => kind === 'recovered' && fault === 'multicast-unavailable')
    await seenAgain(before)
    expect(await a.close()).toBe(0)
    expect(await b.close()).toBe(0)
  })

  test('that is removed and made anew under its name is joined again', async () => {
    await discoverEachOther()
    await settled()
    const before = await lastSeen()
    network.replaceCard(mill)
    await seenAgain(before)
  })

  test('that gets another name is found under it', async () => {
    await discoverEachOther()
    await settled()
    const before = await lastSeen()
    mill.rename('lan0')
    await a.waitFor(({ kind, interfaces }) => kind === 'interfaces-changed' && interfaces?.[0] === 'lan0')
    await seenAgain(before)
    expect((await a.state()).interfaces).toMatchObject([{ name: 'lan0', joined: true }])
  })

  test('that gets another address is advertised there, and peers ask there', async () => {
    await discoverEachOther()
    await settled()
    const before = await lastSeen()
    mill.removeAddress(`${mill.address}/24`)
    mill.addAddress('10.77.0.99/24')
    await seenAgain(before, '10.77.0.99')
  })

  test('that comes late is used', async () => {
    mill.unplug()
    a = await DiscoveringHost.start(mill, { port: 5001, timings })
    expect(await a.state()).toMatchObject({ multicast: 'unavailable', why: 'multicast: no interface' })
    b = await DiscoveringHost.start(barn, { port: 5001, timings })
    mill.plug()
    await a.peersOnce((peers) => idsOf(peers).includes('barn/5001'))
    await b.peersOnce((peers) => idsOf(peers).includes('mill/5001'))
  })
})

test('a process that was stopped longer than every TTL has its peers at once and finds them again', async () => {
  const short = { minTtlMs: 2_000, maxTtlMs: 2_000, gapMs: 1_500, afterGapMs: 20_000, browseFloorMs: 200 }
  await discoverEachOther(short)
  const before = await lastSeen()
  const since = b.said.length
  b.process.kill('SIGSTOP')
  await sleep(6_000)
  b.process.kill('SIGCONT')
  expect(idsOf(await b.peers())).toEqual(['mill/5001'])
  await b.peersOnce((peers) => peers.some(({ lastSeenMs }) => lastSeenMs > before.b + 6_000))
  await a.peersOnce((peers) => idsOf(peers).includes('barn/5001'))
  expect(b.said.slice(since).filter(({ kind }) => kind === 'peer-gone')).toEqual([])
  expect(await b.close()).toBe(0)
})
