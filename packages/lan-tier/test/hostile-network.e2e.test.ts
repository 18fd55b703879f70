/** Somebody on the network who advertises what is not there and sends what does not decode, by real multicast. */
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type VirtualHost, VirtualNetwork } from '../../../test/net/index.js'
import { DiscoveringHost, idsOf } from './harness/discovering-host.js'

const NOISE = fileURLToPath(new URL('harness/noise-maker.mjs', import.meta.url))
let network: VirtualNetwork
let hosts: VirtualHost[]
beforeEach(() => {
  network = VirtualNetwork.create()
  hosts = ['mill', 'barn', 'late', 'evil'].map((hostname) => network.addHost({ hostname }))
})
afterEach(() => network.remove())

const host = (index: number): VirtualHost => {
  const found = hosts[index]
  if (!found) throw new Error('no such host')
  return found
}

async function makeNoise(kind: 'junk' | 'malformed', count: number): Promise<void> {
  const evil = host(3)
  const noise = evil.spawn(process.execPath, [NOISE, kind, String(count), evil.address], { stdio: 'inherit' })
  expect(await once(noise, 'close')).toEqual([0, null])
}

test.each(['junk', 'malformed'] as const)(
  '10,000 times %s: peers stay, new ones are found, memory is bounded',
  async (kind) => {
    const a = await DiscoveringHost.start(host(0), { port: 5001 })
    const b = await DiscoveringHost.start(host(1), { port: 5001 })
    await a.peersOnce((peers) => idsOf(peers).includes('barn/5001'))
    await makeNoise(kind, 10_000)
    const before = await a.heapBytes()
    await makeNoise(kind, 10_000)
    expect((await a.heapBytes()) - before).toBeLessThan(8 * 1_024 * 1_024)

    const c = await DiscoveringHost.start(host(2), { port: 5001 })
    const peers = await a.peersOnce((now) => idsOf(now).includes('late/5001'))
    expect(idsOf(peers)).toContain('barn/5001')
    const madeUp = peers.filter(({ instanceId }) => instanceId.startsWith('junk'))
    expect(madeUp.length).toBeLessThanOrEqual(128)
    if (kind === 'malformed') expect(madeUp.length).toBeLessThanOrEqual(1)
    expect(a.said.filter(({ fault }) => fault === 'packet-mishandled')).toEqual([])
    for (const one of [a, b, c]) expect(await one.close()).toBe(0)
  }
)
