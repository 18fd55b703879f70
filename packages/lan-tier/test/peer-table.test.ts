/** Who is in the table, for how long, and who cannot push whom out. */
import { createManualClock } from '@agentmux/lease-model/testing'
import { expect, test } from 'vitest'
import { acceptClaim, type PeerClaim } from '../src/peers/peer-claim.js'
import { PEER_LIMITS, type PeerChange, PeerTable } from '../src/peers/peer-table.js'

const claimed = (over: Partial<PeerClaim> = {}): PeerClaim => ({
  instanceId: 'mill/stable',
  hostname: 'mill',
  version: '1',
  channel: 'stable',
  authKey: 'key',
  port: 5001,
  ...over
})
const byProbe = (address: string, over: Partial<PeerClaim> = {}) => ({
  claim: claimed(over),
  addresses: [address],
  source: address
})
const at = (address: string, over: Partial<PeerClaim> = {}, ttlMs = 4_500_000) => ({
  ...byProbe(address, over),
  ttlMs
})

function table() {
  const clock = createManualClock()
  const peers = new PeerTable({ clock })
  const changes: string[] = []
  peers.subscribe(({ kind, peer }: PeerChange) => changes.push(`${kind} ${peer.instanceId}`))
  const ids = () => peers.list().map(({ instanceId }) => instanceId)
  /** As discovery does it: something looks at the table all the time. */
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20_000) {
      await clock.advance(Math.min(20_000, ms - passed))
      peers.tick()
    }
  }
  return { clock, peers, changes, ids, pass }
}

test('a peer is listed with what it said and when', async () => {
  const { clock, peers, pass } = table()
  const firstSeenMs = clock.bootMs()
  expect(peers.saw(at('10.0.0.2'))).toBe('seen')
  await pass(1_000)
  expect(peers.saw(at('10.0.0.2'))).toBe('known')
  expect(peers.list()).toEqual([
    {
      ...claimed(),
      address: '10.0.0.2',
      addresses: ['10.0.0.2'],
      agents: [],
      firstSeenMs,
      lastSeenMs: firstSeenMs + 1_000
    }
  ])
})

test.each([
  ['shorter than allowed', 1_000, 300_000],
  ['its own', 4_500_000, 4_500_000],
  ['longer than allowed', 99_999_000, 9_000_000]
])('it is kept for its TTL: %s', async (_, ttlMs, keptMs) => {
  const { peers, pass, ids, changes } = table()
  peers.saw(at('10.0.0.2', {}, ttlMs))
  await pass(keptMs)
  expect(ids()).toEqual(['mill/stable'])
  await pass(1)
  expect(ids()).toEqual([])
  expect(changes).toEqual(['seen mill/stable', 'gone mill/stable'])
})

test('a removal event removes nothing, but the peer has to be seen again within the shortest time', async () => {
  const { peers, pass, ids } = table()
  peers.saw(at('10.0.0.2'))
  peers.withdrawn(claimed(), '10.0.0.9')
  await pass(400_000)
  expect(ids()).toEqual(['mill/stable'])
  peers.saw(at('10.0.0.2'))
  peers.withdrawn(claimed(), '10.0.0.2')
  await pass(299_000)
  expect(ids()).toEqual(['mill/stable'])
  await pass(2_000)
  expect(ids()).toEqual([])
})

test('a 45-minute silence makes no healthy peer vanish', async () => {
  const { peers, pass, ids } = table()
  peers.saw(at('10.0.0.2'))
  await pass(45 * 60_000)
  expect(ids()).toEqual(['mill/stable'])
})

test('empty values erase no known ones', () => {
  const { peers } = table()
  peers.saw(at('10.0.0.2'))
  peers.saw(at('10.0.0.2', { hostname: '', version: '', channel: '', authKey: '' }))
  expect(peers.list()).toMatchObject([claimed()])
})

test('a restart with a new key takes the place of the old row; a stranger who names it does not', () => {
  const { peers } = table()
  peers.saw(at('10.0.0.2'))
  peers.saw(at('10.0.0.66', { authKey: 'strange' }))
  expect(peers.list().map(({ authKey }) => authKey)).toEqual(['key', 'strange'])
  peers.saw(at('10.0.0.2', { authKey: 'new' }))
  expect(peers.list().map(({ authKey }) => authKey)).toEqual(['strange', 'new'])
})

test('one instance heard over two links is one peer with both addresses, the one in use first', () => {
  const { peers } = table()
  peers.saw(at('10.0.0.2'))
  peers.saw({ ...at('10.0.0.2'), addresses: ['10.0.0.2', 'fd00::2'], source: 'fe80::2' })
  expect(peers.list()).toMatchObject([{ address: '10.0.0.2', addresses: ['10.0.0.2', 'fd00::2'] }])
})

test('a peer with a new address is asked there', () => {
  const { peers, changes } = table()
  peers.saw(at('10.0.0.2'))
  peers.saw(at('10.0.0.7'))
  expect(peers.list()).toMatchObject([{ address: '10.0.0.7', addresses: ['10.0.0.7', '10.0.0.2'] }])
  expect(changes).toEqual(['seen mill/stable', 'changed mill/stable'])
})

test('IPv4 comes first', () => {
  const { peers } = table()
  peers.saw({ ...at('10.0.0.2'), addresses: ['fd00::2', '10.0.0.2'] })
  expect(peers.list()[0]?.address).toBe('10.0.0.2')
})

test('500 peers fit beside 10,000 made-up ones, whoever comes first', () => {
  for (const junkFirst of [true, false]) {
    const { peers, ids } = table()
    const junk = () => {
      for (let i = 0; i < 10_000; i++) peers.saw(at(`10.9.0.${i % 4}`, { instanceId: `junk-${i}` }))
    }
    const real = () => {
      for (let i = 0; i < 500; i++) {
        peers.saw(at(`10.1.${i >> 8}.${i & 255}`, { instanceId: `real-${i}`, authKey: `${i}` }))
      }
    }
    if (junkFirst) junk()
    real()
    if (!junkFirst) junk()
    expect(ids().filter((id) => id.startsWith('real')).length).toBe(500)
    expect(peers.size).toBeLessThanOrEqual(PEER_LIMITS.total)
  }
})

test('at most 64 peers are known by the UDP probe alone', () => {
  const { peers } = table()
  for (let i = 0; i < 200; i++) peers.saw(byProbe(`10.0.0.${i}`, { instanceId: `p${i}` }))
  expect(peers.size).toBe(64)
  expect(peers.saw(at('10.0.1.1', { instanceId: 'by multicast' }))).toBe('seen')
})

test('after a suspension longer than every TTL nobody is gone at once, and who is not seen again goes soon', async () => {
  const { clock, peers, ids, pass } = table()
  peers.saw(at('10.0.0.2'))
  peers.saw(at('10.0.0.3', { instanceId: 'barn/stable' }))
  clock.suspend(24 * 3_600_000)
  expect(ids()).toEqual(['mill/stable', 'barn/stable'])
  await pass(5_000)
  peers.saw(at('10.0.0.3', { instanceId: 'barn/stable' }))
  await pass(20_000)
  expect(ids()).toEqual(['mill/stable', 'barn/stable'])
  await pass(10_000)
  expect(ids()).toEqual(['barn/stable'])
})

test('what is no claim: no id, a privileged port, control characters, too long, a key that no header takes', () => {
  const whole = { ...claimed() }
  expect(acceptClaim(whole)).toEqual(whole)
  expect(acceptClaim({ instanceId: 'x', port: 1024 })).toMatchObject({ hostname: '', authKey: '' })
  const bad: Partial<Record<keyof PeerClaim, unknown>>[] = [
    { instanceId: '' },
    { instanceId: undefined },
    { instanceId: 'x'.repeat(129) },
    { instanceId: 'a\nb' },
    { hostname: 'x'.repeat(254) },
    { hostname: '\u001b[2Jmill' },
    { hostname: 'a\u202eb' },
    { hostname: 7 },
    { version: 'x'.repeat(65) },
    { channel: 'ü'.repeat(33) },
    { authKey: 'x'.repeat(257) },
    { authKey: 'a\r\nX-Other: b' },
    { authKey: 'ü' },
    { port: 1023 },
    { port: 65536 },
    { port: 5001.5 },
    { port: '5001' },
    { port: undefined }
  ]
  for (const part of bad) expect(acceptClaim({ ...whole, ...part }), JSON.stringify(part)).toBeUndefined()
})
