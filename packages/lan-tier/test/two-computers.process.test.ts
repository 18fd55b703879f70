/** Several instances with real HTTP between them, each re-checking what it drives: exactly one goes on. */
import { createSystemClock } from '@agentmux/lease-model'
import { afterEach, describe, expect, it } from 'vitest'
import { LanHoldings, LanRecheck, LanSecret, LanTier, type OwnLease, type Peer } from '../src/index.js'
import { AT } from './example.js'
import { peerServer } from './peer-server.js'

const clock = createSystemClock()
const toClose: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0)) await close()
})

interface Computer {
  readonly held: Map<string, OwnLease>
  readonly peer: Peer
  readonly tier: LanTier
  readonly recheck: LanRecheck
}

async function computers(
  of: readonly { hostname: string; acquiredAtMs: number }[],
  secret?: LanSecret
): Promise<Computer[]> {
  const all: Computer[] = []
  for (const { hostname, acquiredAtMs } of of) {
    const held = new Map([['u', { claimId: `claim ${all.length} of ${hostname}`, acquiredAtMs, hostname }]])
    const signing = secret === undefined ? {} : { secret }
    const peers = () => all.filter((each) => each.held !== held).map(({ peer }) => peer)
    const options = {
      peers,
      hostname,
      ownLease: (uid: string) => held.get(uid),
      clock,
      loopback: true,
      ...signing
    }
    const holdings = new LanHoldings(options)
    const recheck = new LanRecheck({
      held: () => held,
      ask: (questions, signal) => holdings.ask(questions, signal),
      clock,
      everyMs: 2_000,
      onYield: (uid) => held.delete(uid)
    })
    const isYielding = (uid: string) => recheck.isYielding(uid)
    const server = await peerServer({ hostname, held, isYielding, ...signing })
    const tier = new LanTier({ ...options, holdings })
    all.push({ held, peer: server.peer, tier, recheck })
    toClose.push(async () => {
      await recheck.close()
      await holdings.close()
      await server[Symbol.asyncDispose]()
    })
  }
  return all
}

async function oneIsLeft(all: readonly Computer[]): Promise<number> {
  while (all.filter(({ held }) => held.size > 0).length > 1) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return all.findIndex(({ held }) => held.size > 0)
}

describe('computers that drive one agent', () => {
  it.each([
    ['the earlier start', [AT, AT + 60_000], ['yard', 'barn'], 0],
    ['the lower name of two that started together', [AT, AT + 9_999], ['yard', 'barn'], 1],
    ['one of three that would go in a circle', [AT, AT + 6_000, AT + 12_000], ['c', 'b', 'a'], 1],
    ['the earliest of five', [AT + 60_000, AT + 50_000, AT, AT + 20_000, AT + 30_000], [...'abcde'], 2]
  ] as const)('%s goes on and nobody else', async (_, starts, names, winner) => {
    const all = await computers(
      starts.map((acquiredAtMs, at) => ({ acquiredAtMs, hostname: names[at] ?? '' })),
      new LanSecret('a secret of this network')
    )
    for (const { recheck } of all) recheck.agentStarted()
    expect(await oneIsLeft(all)).toBe(winner)
  })

  it('of one name and one start: one goes on', async () => {
    const all = await computers([
      { acquiredAtMs: AT, hostname: 'mill' },
      { acquiredAtMs: AT, hostname: 'mill' }
    ])
    for (const { recheck } of all) recheck.agentStarted()
    expect(await oneIsLeft(all)).toBeGreaterThanOrEqual(0)
  })

  it('a newcomer is told who has it, and what is not known is not called free', async () => {
    const [barn, mill] = await computers([
      { acquiredAtMs: AT, hostname: 'barn' },
      { acquiredAtMs: AT + 60_000, hostname: 'mill' }
    ])
    if (barn === undefined || mill === undefined) throw new Error('there are two')
    mill.held.clear()
    const { signal } = new AbortController()
    const answer = await mill.tier.heldElsewhere({ uid: 'u' }, signal)
    expect(answer).toMatchObject({
      kind: 'held',
      holder: { place: 'lan', hostname: 'barn', acquiredAtMs: AT }
    })
    expect(await barn.tier.heldElsewhere({ uid: 'u' }, signal)).toEqual({ kind: 'free' })
    expect(barn.tier.state()).toEqual({ peers: 1, signed: false, unsigned: 0 })

    const nowhere = new LanTier({
      peers: () => [{ ...barn.peer, address: '127.0.0.99', addresses: [] }],
      hostname: 'mill',
      ownLease: () => undefined,
      clock,
      loopback: true
    })
    toClose.push(() => nowhere.close())
    expect(await nowhere.heldElsewhere({ uid: 'u' }, signal)).toEqual({
      kind: 'unknown',
      why: '1 of 1 peers gave no answer that counts (1 refused)'
    })
  })
})
