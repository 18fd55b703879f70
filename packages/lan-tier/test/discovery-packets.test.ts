/** What discovery says and does for each packet, on sockets that lead nowhere and a clock that is moved by hand. */
import type { NetworkInterfaceInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { DnsMessage } from '../src/discovery/dns-message.js'
import { SERVICE } from '../src/discovery/service-names.js'
import { announcedRecords, announcement } from './harness/announcement.js'
import { decodePacket, encodePacket } from './harness/dns-packet.js'
import { etherCard, type StubbedDiscovery, type StubSocket, stubbedDiscovery } from './harness/stub-socket.js'

const mill = {
  label: 'agentmux-mill-5001',
  host: 'mill',
  address: '10.0.0.2',
  port: 5001,
  instanceId: 'mill/stable'
}
const fromMill = { address: '10.0.0.2', port: 5353 }
const ids = ({ discovery }: StubbedDiscovery) => discovery.peers.list().map(({ instanceId }) => instanceId)
const messages = (socket: StubSocket): DnsMessage[] => socket.sent.map(({ bytes }) => decodePacket(bytes))
const deliver = ({ socket }: StubbedDiscovery, message: DnsMessage, from = fromMill) =>
  socket(5353).deliver(encodePacket(message), from)

describe('browsing', () => {
  test('a peer comes in one packet', async () => {
    const net = await stubbedDiscovery()
    deliver(net, announcement(mill))
    expect(net.discovery.peers.list()).toMatchObject([
      { instanceId: 'mill/stable', address: '10.0.0.2', port: 5001, authKey: 'key' }
    ])
    await net.discovery.close()
    expect(net.clock.pendingTimers).toBe(0)
  })

  test('or record by record, and what is missing is asked for three times and no more', async () => {
    const net = await stubbedDiscovery()
    const [ptr, srv, txt, address] = announcedRecords(mill)
    const before = net.socket(5353).sent.length
    if (ptr) deliver(net, { type: 'response', answers: [ptr] })
    await net.clock.advance(60_000)
    const asked = messages(net.socket(5353))
      .slice(before)
      .flatMap(({ questions = [] }) => questions.map(({ name, type }) => `${type} ${name}`))
    for (const type of ['SRV', 'TXT']) {
      expect(asked.filter((one) => one === `${type} ${mill.label}.${SERVICE}`).length).toBe(3)
    }
    if (srv) deliver(net, { type: 'response', answers: [srv] })
    if (txt) deliver(net, { type: 'response', answers: [txt] })
    expect(ids(net)).toEqual([])
    if (address) deliver(net, { type: 'response', answers: [address] })
    expect(ids(net)).toEqual(['mill/stable'])
    await net.discovery.close()
  })

  test('addresses that lead back, away or nowhere are not believed', async () => {
    const net = await stubbedDiscovery()
    for (const address of ['127.0.0.1', '8.8.8.8', '224.0.0.251', '0.0.0.0']) {
      deliver(net, announcement({ ...mill, address }))
    }
    expect(ids(net)).toEqual([])
    deliver(net, announcement({ ...mill, address: '192.168.7.7' }))
    expect(ids(net)).toEqual(['mill/stable'])
    await net.discovery.close()
  })

  test('records of different senders are not mixed', async () => {
    const net = await stubbedDiscovery()
    const [ptr, srv, txt, address] = announcedRecords(mill)
    if (ptr && srv && txt && address) {
      deliver(net, { type: 'response', answers: [ptr, srv] })
      deliver(net, { type: 'response', answers: [txt, address] }, { address: '10.0.0.66', port: 5353 })
    }
    expect(ids(net)).toEqual([])
    await net.discovery.close()
  })

  test('a goodbye removes nothing, and an empty TXT erases nothing', async () => {
    const net = await stubbedDiscovery()
    deliver(net, announcement(mill))
    deliver(net, { type: 'response', answers: announcedRecords(mill, 0) })
    expect(ids(net)).toEqual(['mill/stable'])
    const empty = announcedRecords(mill).map((record) =>
      record.type === 'TXT'
        ? { ...record, data: ['auth_key=', 'hostname='].map((s) => Buffer.from(s)) }
        : record
    )
    deliver(net, announcement(mill))
    deliver(net, { type: 'response', answers: empty })
    expect(net.discovery.peers.list()).toMatchObject([{ authKey: 'key', hostname: 'mill' }])
    await net.discovery.close()
  })

  test('our own advertisement is not a peer, another port of this machine is', async () => {
    const net = await stubbedDiscovery(5001)
    const us = { ...mill, address: '10.0.0.1' }
    deliver(net, announcement(us), { address: '10.0.0.1', port: 5353 })
    expect(ids(net)).toEqual([])
    deliver(net, announcement({ ...us, port: 5002 }), { address: '10.0.0.1', port: 5353 })
    expect(ids(net)).toEqual(['mill/stable'])
    await net.discovery.close()
  })

  test('who is known is named in the question, so that it stays quiet', async () => {
    const net = await stubbedDiscovery()
    deliver(net, announcement(mill))
    const before = net.socket(5353).sent.length
    await net.clock.advance(60_000)
    const questions = messages(net.socket(5353))
      .slice(before)
      .filter(({ questions: [first] = [] }) => first?.type === 'PTR')
    expect(questions.length).toBeGreaterThan(0)
    for (const { answers } of questions) expect(answers).toMatchObject([{ data: `${mill.label}.${SERVICE}` }])
    await net.discovery.close()
  })

  test('a response from a port that no responder uses is not heard', async () => {
    const net = await stubbedDiscovery()
    deliver(net, announcement(mill), { address: '10.0.0.2', port: 40_000 })
    expect(ids(net)).toEqual([])
    await net.discovery.close()
  })

  test('one sender who floods is cut short, and another is still heard', async () => {
    const net = await stubbedDiscovery()
    for (let i = 0; i < 5_000; i++) {
      const junk = { ...mill, label: `junk-${i}`, instanceId: `junk-${i}`, address: '10.0.0.66' }
      deliver(net, announcement(junk), { address: '10.0.0.66', port: 5353 })
    }
    expect(ids(net).length).toBeLessThanOrEqual(64)
    deliver(net, announcement(mill))
    expect(ids(net)).toContain('mill/stable')
    await net.discovery.close()
  })
})

describe('an interface that cannot be joined', () => {
  const docker: NodeJS.Dict<NetworkInterfaceInfo[]> = { docker0: etherCard(7), eth0: etherCard(1) }

  test('is told, and costs the others nothing', async () => {
    const refusesJoin = (address: string) => address === '10.0.0.7' || address === '::%docker0'
    const net = await stubbedDiscovery(5001, { interfaces: docker, refusesJoin })
    expect(net.discovery.state.multicast).toBe('working')
    expect(
      net.events.flatMap((event) => (event.kind === 'fault' ? [`${event.fault} ${event.interface}`] : []))
    ).toEqual(['interface-not-joined docker0', 'interface-not-joined docker0 (IPv6)'])
    expect(net.events).toContainEqual(expect.objectContaining({ kind: 'advertised' }))
    deliver(net, announcement(mill))
    expect(ids(net)).toEqual(['mill/stable'])
    await net.discovery.close()
  })

  test('of none that can be: multicast is unavailable, and it is tried again', async () => {
    let refused = true
    const net = await stubbedDiscovery(5001, { interfaces: docker, refusesJoin: () => refused })
    expect(net.discovery.state.multicast).toBe('unavailable')
    refused = false
    await net.clock.advance(60_000)
    expect(net.discovery.state.multicast).toBe('working')
    await net.discovery.close()
  })
})

describe('advertising', () => {
  const ask = (name: string, type: string, more: Partial<DnsMessage> = {}): DnsMessage => ({
    type: 'query',
    questions: [{ name, type, class: 'IN' }],
    ...more
  })
  async function answersTo(net: StubbedDiscovery, query: DnsMessage, from = fromMill): Promise<DnsMessage[]> {
    await net.clock.advance(2_000)
    const before = net.socket(5353).sent.length
    deliver(net, query, from)
    await net.clock.advance(600)
    return messages(net.socket(5353))
      .slice(before)
      .filter(({ type }) => type === 'response')
  }

  test('the answer to a browser has everything, with the addresses of the card alone', async () => {
    const net = await stubbedDiscovery(5001)
    const [answer] = await answersTo(net, ask(SERVICE, 'PTR'))
    expect(answer?.answers).toMatchObject([
      { type: 'PTR', ttl: 4_500, data: `agentmux-us-5001.${SERVICE}`, flush: false }
    ])
    expect(answer?.additionals?.map(({ type, data, ttl, flush }) => [type, ttl, flush, data])).toMatchObject([
      ['SRV', 120, true, { port: 5001, target: 'us.local' }],
      ['TXT', 4_500, true, {}],
      ['A', 120, true, '10.0.0.1']
    ])
    await net.discovery.close()
  })

  test('who knows us already is not answered', async () => {
    const net = await stubbedDiscovery(5001)
    const known = (ttl: number) => [
      { name: SERVICE, type: 'PTR', class: 'IN', ttl, data: `agentmux-us-5001.${SERVICE}` }
    ]
    expect(await answersTo(net, ask(SERVICE, 'PTR', { answers: known(4_000) }))).toEqual([])
    expect((await answersTo(net, ask(SERVICE, 'PTR', { answers: known(2_000) }))).length).toBe(1)
    await net.discovery.close()
  })

  test('an asker from another port gets an answer of its own, with short times, twice a second at most', async () => {
    const net = await stubbedDiscovery(5001)
    await net.clock.advance(2_000)
    const before = net.socket(5353).sent.length
    for (let i = 0; i < 100; i++)
      deliver(net, ask(SERVICE, 'PTR', { id: 7 }), { address: '10.0.0.2', port: 4444 })
    for (let i = 0; i < 100; i++)
      deliver(net, ask(SERVICE, 'PTR', { id: 7 }), { address: '8.8.8.8', port: 4444 })
    await net.clock.advance(10)
    const sent = net.socket(5353).sent.slice(before)
    expect(sent.map(({ address, port }) => `${address} ${port}`)).toEqual(['10.0.0.2 4444', '10.0.0.2 4444'])
    const [first] = sent
    expect(first && decodePacket(first.bytes)).toMatchObject({
      id: 7,
      questions: [{ name: SERVICE }],
      answers: [{ type: 'PTR', ttl: 10 }]
    })
    await net.discovery.close()
  })

  test('a goodbye goes out when it is withdrawn, and none for the addresses', async () => {
    const net = await stubbedDiscovery(5001)
    const before = net.socket(5353).sent.length
    net.discovery.advertise(undefined)
    await net.clock.advance(10)
    const [bye] = messages(net.socket(5353)).slice(before)
    expect(bye?.answers?.map(({ type, ttl }) => `${type} ${ttl}`)).toEqual(['PTR 0', 'SRV 0', 'TXT 0'])
    expect(await answersTo(net, ask(SERVICE, 'PTR'))).toEqual([])
    await net.discovery.close()
  })

  test('when somebody else has the name we take another, and no more than ten in a minute', async () => {
    const net = await stubbedDiscovery(5001)
    const names = () => net.events.flatMap((event) => (event.kind === 'advertised' ? [event.label] : []))
    const taken = (label: string) => deliver(net, announcement({ ...mill, label, instanceId: 'other' }))
    expect(names()).toEqual(['agentmux-us-5001'])
    for (let i = 1; i < 30; i++) {
      taken(names().at(-1) ?? '')
      await net.clock.advance(1_200)
    }
    expect(names()[1]).toBe('agentmux-us-2-5001')
    expect(names().length).toBeLessThanOrEqual(11)
    expect(net.events).toContainEqual(expect.objectContaining({ kind: 'fault', fault: 'name-contested' }))
    await net.discovery.close()
  })

  test('a port that no peer would accept is a mistake', async () => {
    const net = await stubbedDiscovery()
    for (const port of [0, 80, 65_536, 5001.5, Number.NaN]) {
      expect(() => net.discovery.advertise(port)).toThrow(RangeError)
    }
    await net.discovery.close()
    expect(() => net.discovery.start()).toThrow(TypeError)
  })
})

describe('the probe', () => {
  const request = Buffer.from('{"type":"agentmux_discover","v":1}')

  test('is answered to who is nearby, while we can be reached, a few times a second', async () => {
    const net = await stubbedDiscovery(5001)
    const probe = net.socket(47_891)
    for (let i = 0; i < 100; i++) probe.deliver(request, { address: '::ffff:10.0.0.2', port: 999 })
    for (const address of ['8.8.8.8', '2001:db8::1', '172.32.0.1'])
      probe.deliver(request, { address, port: 999 })
    expect(probe.sent.map(({ address }) => address)).toEqual(Array(4).fill('::ffff:10.0.0.2'))
    net.discovery.advertise(undefined)
    await net.clock.advance(2_000)
    probe.deliver(request, { address: '10.0.0.2', port: 999 })
    expect(probe.sent.length).toBe(4)
    await net.discovery.close()
  })

  test('shares its port with nobody', async () => {
    const net = await stubbedDiscovery(5001)
    expect(net.socket(47_891).options.reuseAddr).toBe(false)
    await net.discovery.close()
  })

  test('is asked by broadcast, and only answers to a question count', async () => {
    const net = await stubbedDiscovery()
    const asker = net.socket(0)
    expect(asker.sent[0]).toMatchObject({ address: '10.0.0.255', port: 47_891 })
    const reply = (instanceId: string) =>
      Buffer.from(
        JSON.stringify({
          type: 'agentmux_discover_response',
          v: 1,
          instance_id: instanceId,
          hostname: 'barn',
          version: '1',
          port: 5001,
          auth_key: 'key',
          channel: 'stable'
        })
      )
    asker.deliver(reply('barn'), { address: '10.0.0.3', port: 47_891 })
    asker.deliver(reply('loop'), { address: '127.0.0.1', port: 47_891 })
    asker.deliver(reply('far'), { address: '8.8.8.8', port: 47_891 })
    expect(net.discovery.peers.list()).toMatchObject([{ instanceId: 'barn', address: '10.0.0.3' }])
    await net.clock.advance(100_000)
    asker.deliver(reply('late'), { address: '10.0.0.4', port: 47_891 })
    expect(ids(net)).toEqual(['barn'])
    await net.discovery.close()
  })
})
