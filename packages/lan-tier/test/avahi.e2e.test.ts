/** Avahi as an independent peer: what it sees of us and we of it, on another computer and on the same. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type VirtualHost, VirtualNetwork } from '../../../test/net/index.js'
import { Avahi } from './harness/avahi.js'
import { DiscoveringHost, idsOf } from './harness/discovering-host.js'

let network: VirtualNetwork
let mill: VirtualHost
let barn: VirtualHost
const running: Avahi[] = []

beforeEach(() => {
  network = VirtualNetwork.create()
  mill = network.addHost({ hostname: 'mill', addresses: ['10.77.0.1/24', 'fd77::1/64'] })
  barn = network.addHost({ hostname: 'barn' })
})
afterEach(async () => {
  for (const avahi of running.splice(0)) await avahi.stop()
  await network.remove()
})

async function avahiOn(host: VirtualHost): Promise<Avahi> {
  const avahi = await Avahi.start(host)
  running.push(avahi)
  return avahi
}

/** `=;eth0;IPv4;agentmux-mill-5001;_agentmux._tcp;local;mill.local;10.77.0.1;5001;"…" "…"`, the zone of an address left out. */
const isResolved = (protocol: string, label: string) => (line: string) =>
  line.startsWith(`=;eth0;${protocol};${label};_agentmux._tcp;local;`)

test('avahi-browse resolves us: host name, address, port and every TXT value', async () => {
  const avahi = await avahiOn(barn)
  await DiscoveringHost.start(mill, { port: 5001, lanKey: 'the-lan-key' })
  const line = await avahi.browse(isResolved('IPv4', 'agentmux-mill-5001'))
  const [host, address, port, txt = ''] = line.split(';').slice(6)
  expect([host, port]).toEqual(['mill.local', '5001'])
  expect(['10.77.0.1', 'fd77::1']).toContain(address)
  const values = [
    'version=0.1.0',
    'hostname=mill',
    'instance_id=mill/5001',
    'auth_key=the-lan-key',
    'channel=stable'
  ]
  expect(
    txt
      .match(/"[^"]*"/g)
      ?.map((one) => one.slice(1, -1))
      .sort()
  ).toEqual(values.sort())
})

test('avahi-browse sees us go when we say goodbye', async () => {
  const avahi = await avahiOn(barn)
  const a = await DiscoveringHost.start(mill, { port: 5001 })
  let isThere = false
  const gone = avahi.browse((line) => {
    isThere ||= isResolved('IPv4', 'agentmux-mill-5001')(line)
    if (isThere && a.process.stdin?.writable) a.tell('withdraw')
    return isThere && line.startsWith('-;eth0;IPv4;agentmux-mill-5001;')
  })
  expect(await gone).toContain('agentmux-mill-5001')
})

test('we see what avahi-publish advertises, and its removal removes nothing', async () => {
  const avahi = await avahiOn(barn)
  const a = await DiscoveringHost.start(mill, { port: 5001 })
  const txt = ['version=9', 'hostname=Barn', 'instance_id=barn-id', 'auth_key=barn-key', 'channel=beta']
  const publisher = await avahi.publish('agentmux-barn-6001', 6001, txt)
  const peers = await a.peersOnce((now) => idsOf(now).includes('barn-id'))
  expect(peers).toMatchObject([
    {
      hostname: 'Barn',
      version: '9',
      channel: 'beta',
      authKey: 'barn-key',
      port: 6001,
      address: barn.address
    }
  ])
  publisher.kill('SIGTERM')
  await avahi.browse((line) => line.includes('agentmux-mill-5001'))
  expect(idsOf(await a.peers())).toEqual(['barn-id'])
})

test('beside avahi on the same computer both are found, under one host name', async () => {
  const own = await avahiOn(mill)
  const other = await avahiOn(barn)
  await DiscoveringHost.start(mill, { port: 5001 })
  const b = await DiscoveringHost.start(barn, { port: 5001 })
  await own.publish('agentmux-mill-7001', 7001, ['instance_id=by-avahi', 'auth_key=k'])
  await b.peersOnce((peers) => ['by-avahi', 'mill/5001'].every((id) => idsOf(peers).includes(id)))
  for (const label of ['agentmux-mill-5001', 'agentmux-mill-7001']) {
    expect((await other.browse(isResolved('IPv4', label))).split(';')[6]).toBe('mill.local')
  }
})
