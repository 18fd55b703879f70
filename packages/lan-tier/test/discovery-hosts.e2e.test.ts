/** Discovery between computers: network namespaces, real multicast, real processes, the built package. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { VirtualNetwork } from '../../../test/net/index.js'
import { DiscoveringHost, idsOf } from './harness/discovering-host.js'

let network: VirtualNetwork
beforeEach(() => {
  network = VirtualNetwork.create()
})
afterEach(() => network.remove())

const sees =
  (...ids: string[]) =>
  (peers: Parameters<typeof idsOf>[0]) =>
    JSON.stringify(idsOf(peers)) === JSON.stringify(ids)

describe('two computers', () => {
  test('find each other, with everything that is said', async () => {
    const [mill, barn] = [network.addHost({ hostname: 'mill' }), network.addHost({ hostname: 'barn' })]
    const a = await DiscoveringHost.start(mill, { port: 5001, lanKey: 'key-of-mill' })
    const b = await DiscoveringHost.start(barn, { port: 5001 })
    const [peer] = await b.peersOnce(sees('mill/5001'))
    await a.peersOnce(sees('barn/5001'))
    expect(peer).toMatchObject({
      hostname: 'mill',
      version: '0.1.0',
      channel: 'stable',
      address: mill.address,
      addresses: [mill.address],
      port: 5001,
      authKey: 'key-of-mill',
      agents: []
    })
    expect(await a.state()).toMatchObject({
      multicast: 'working',
      probe: 'listening',
      interfaces: [{ name: 'eth0', addresses: [mill.address], joined: true }]
    })
    expect(await a.close()).toBe(0)
    expect(await b.close()).toBe(0)
  })

  test('over IPv6 alone', async () => {
    const mill = network.addHost({ hostname: 'mill', addresses: ['fd77::1/64'] })
    const barn = network.addHost({ hostname: 'barn', addresses: ['fd77::2/64'] })
    const a = await DiscoveringHost.start(mill, { port: 5001 })
    const b = await DiscoveringHost.start(barn, { port: 5002 })
    const [peer] = await b.peersOnce(sees('mill/5001'))
    expect(peer?.addresses).toEqual(['fd77::1'])
    await a.peersOnce(sees('barn/5002'))
  })

  test('of one name and one port get different names on the network, and see each other', async () => {
    const hosts = [1, 2, 3].map(() => network.addHost({ hostname: 'twin' }))
    const all = await Promise.all(
      hosts.map((host, i) => DiscoveringHost.start(host, { port: 5001, instanceId: `twin-${i}` }))
    )
    for (const [i, one] of all.entries()) {
      const others = [0, 1, 2].filter((j) => j !== i)
      const peers = await one.peersOnce(sees(...others.map((j) => `twin-${j}`)))
      for (const j of others) {
        expect(peers.find(({ instanceId }) => instanceId === `twin-${j}`)?.address).toBe(hosts[j]?.address)
      }
    }
    const names = await Promise.all(
      all.map((one) => one.waitFor(({ kind }) => kind === 'advertised').then(() => lastNames(one)))
    )
    expect(new Set(names.map(({ label }) => label)).size).toBe(3)
    expect(new Set(names.map(({ host }) => host)).size).toBe(3)
  })

  test('that share the address of a docker0 see each other at the address that leads there', async () => {
    const [mill, barn] = [network.addHost({ hostname: 'mill' }), network.addHost({ hostname: 'barn' })]
    for (const host of [mill, barn]) host.addLonelyInterface('docker0', '172.17.0.1/16')
    const a = await DiscoveringHost.start(mill, { port: 5001 })
    const b = await DiscoveringHost.start(barn, { port: 5001 })
    const [peer] = await a.peersOnce(sees('barn/5001'))
    expect(peer?.addresses).toEqual([barn.address])
    await b.peersOnce(sees('mill/5001'))
  })

  test('whose cards have several addresses advertise those of the card', async () => {
    const addresses = ['10.77.0.1/24', '10.78.0.1/24', 'fd77::1/64']
    const mill = network.addHost({ hostname: 'mill', addresses })
    const barn = network.addHost({ hostname: 'barn' })
    await DiscoveringHost.start(mill, { port: 5001 })
    const b = await DiscoveringHost.start(barn, { port: 5001 })
    const [peer] = await b.peersOnce((peers) =>
      peers.some((one) => one.addresses.length === addresses.length)
    )
    expect(peer?.addresses).toEqual(['10.77.0.1', '10.78.0.1', 'fd77::1'])
  })
})

const lastNames = ({ said }: DiscoveringHost) => {
  const last = said.filter(({ kind }) => kind === 'advertised').at(-1)
  return { label: last?.label, host: last?.host }
}

describe('several instances', () => {
  test('on five computers all see each other; two on one computer do, too', async () => {
    const hosts = ['a', 'b', 'c', 'd', 'e'].map((hostname) => network.addHost({ hostname }))
    const all = await Promise.all([
      ...hosts.map((host) => DiscoveringHost.start(host, { port: 5001 })),
      ...hosts.slice(0, 1).map((host) => DiscoveringHost.start(host, { port: 5002 }))
    ])
    const ids = all.map(({ host }, i) => `${host.hostname}/${i === 5 ? 5002 : 5001}`)
    for (const [i, one] of all.entries()) {
      await one.peersOnce(sees(...ids.filter((_, j) => j !== i).sort()))
    }
  })

  test('that does not advertise sees the others and is not seen', async () => {
    const [mill, barn] = [network.addHost({ hostname: 'mill' }), network.addHost({ hostname: 'barn' })]
    const silent = await DiscoveringHost.start(mill, {})
    const loud = await DiscoveringHost.start(barn, { port: 5001 })
    await silent.peersOnce(sees('barn/5001'))
    expect(await loud.peers()).toEqual([])
  })
})

describe('an instance that goes', () => {
  const timings = { minTtlMs: 3_000, maxTtlMs: 3_000, watchMs: 200, browseFloorMs: 200 }

  test('with a goodbye is kept for the shortest time, and no longer', async () => {
    const [mill, barn] = [network.addHost({ hostname: 'mill' }), network.addHost({ hostname: 'barn' })]
    const a = await DiscoveringHost.start(mill, { port: 5001 })
    const b = await DiscoveringHost.start(barn, { port: 5001, timings: { minTtlMs: 3_000, watchMs: 200 } })
    await b.peersOnce(sees('mill/5001'))
    expect(await a.close()).toBe(0)
    expect(idsOf(await b.peers())).toEqual(['mill/5001'])
    await b.waitFor(({ kind, peer }) => kind === 'peer-gone' && peer?.instanceId === 'mill/5001')
  })

  test('by kill -9 is gone once it has not been seen for its time', async () => {
    const [mill, barn] = [network.addHost({ hostname: 'mill' }), network.addHost({ hostname: 'barn' })]
    const a = await DiscoveringHost.start(mill, { port: 5001 })
    const b = await DiscoveringHost.start(barn, { port: 5001, timings })
    await b.peersOnce(([peer]) => peer !== undefined && peer.lastSeenMs - peer.firstSeenMs > 6_000)
    a.process.kill('SIGKILL')
    await b.waitFor(({ kind, peer }) => kind === 'peer-gone' && peer?.instanceId === 'mill/5001')
    expect(await b.peers()).toEqual([])
  })

  test('and comes back with another key replaces what it was', async () => {
    const [mill, barn] = [network.addHost({ hostname: 'mill' }), network.addHost({ hostname: 'barn' })]
    const a = await DiscoveringHost.start(mill, { port: 5001, lanKey: 'first' })
    const b = await DiscoveringHost.start(barn, { port: 5001 })
    await b.peersOnce(sees('mill/5001'))
    a.process.kill('SIGKILL')
    await DiscoveringHost.start(mill, { port: 5001, lanKey: 'second' })
    // A sender is an address: until the other family has spoken too, what it said before stands beside it.
    const peers = await b.peersOnce((peers) => peers.every(({ authKey }) => authKey === 'second'))
    expect(peers.length).toBe(1)
  })
})
