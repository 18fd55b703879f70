import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { createSystemClock } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { afterEach, describe, expect, it } from 'vitest'
import {
  LanHoldings,
  type LanHoldingsOptions,
  LanSecret,
  lanHolders,
  type OwnLease,
  type Peer,
  signAnswer,
  verdictOf
} from '../src/index.js'
import { AT } from './example.js'
import { type PeerServer, type PeerServerOptions, peerAt, peerServer } from './peer-server.js'

const lease: OwnLease = { claimId: 'claim-of-barn', acquiredAtMs: AT, hostname: 'barn' }
const secret = new LanSecret('a secret of this network')
const other = new LanSecret('a secret of that network')
const clock = createSystemClock()
const hasIPv6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1')

const toClose: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of toClose.splice(0)) await close()
})

async function server(options: PeerServerOptions = {}): Promise<PeerServer> {
  const started = await peerServer(options)
  toClose.push(async () => started[Symbol.asyncDispose]())
  return started
}

/** A long time-out: what these tests wait for is an answer, on however busy a computer. */
function holdingsOf(peers: readonly Peer[], more: Partial<LanHoldingsOptions> = {}): LanHoldings {
  const holdings = new LanHoldings({
    peers: () => peers,
    hostname: 'Mill',
    ownLease: () => undefined,
    clock,
    loopback: true,
    timeoutMs: 10_000,
    ...more
  })
  toClose.push(() => holdings.close())
  return holdings
}

const holds = (uid: string, of: OwnLease = lease) => new Map([[uid, of]])
const whyOf = (look: { readonly silent: readonly { readonly why: string }[] }) =>
  look.silent.map(({ why }) => why)

describe('asking who holds an agent', () => {
  it('names the holder, since when, and its peer, without the peer’s key', async () => {
    const [barn, coop] = [await server({ held: holds('7c0e') }), await server({ hostname: 'coop' })]
    const look = await holdingsOf([barn.peer, coop.peer]).lanHolders('7c0e')
    expect(look.answered).toBe(2)
    expect(look.silent).toEqual([])
    expect(look.holders).toEqual([
      {
        place: 'lan',
        hostname: 'barn',
        channel: 'stable',
        version: '0.44.1',
        pid: 0,
        epoch: 0,
        blockId: '',
        acquiredAtMs: AT,
        claim: expect.stringMatching(/^[0-9a-f]{64}$/),
        yielding: false,
        peer: {
          instanceId: barn.peer.instanceId,
          hostname: 'barn',
          address: '127.0.0.1',
          port: barn.peer.port
        }
      }
    ])
    expect(JSON.stringify(look)).not.toContain(barn.peer.authKey)
    expect(verdictOf(look)).toMatchObject({ kind: 'held', holder: { hostname: 'barn' } })
  })

  it('asks about all agents in one question to each peer, with that peer’s key and no other', async () => {
    const servers = [await server(), await server(), await server()]
    const holdings = holdingsOf(servers.map(({ peer }) => peer))
    const uids = Array.from({ length: 100 }, (_, at) => `agent-${at}`)
    const looks = await holdings.ask(uids.map((uid) => ({ uid })))
    expect(looks.size).toBe(100)
    for (const { peer, requests } of servers) {
      expect(requests).toHaveLength(1)
      expect(requests[0]).toMatchObject({ method: 'POST', url: '/agentmux/agent/holdings' })
      expect(requests[0]?.headers['x-authkey']).toBe(peer.authKey)
      expect(requests[0]?.headers['x-agentmux-nonce']).toBeUndefined()
      expect(JSON.parse(requests[0]?.body ?? '')).toEqual({ uids })
    }
  })

  it('puts at most a thousand agents into one question', async () => {
    const barn = await server({ held: holds('agent-2344') })
    const uids = Array.from({ length: 2_345 }, (_, at) => `agent-${at}`)
    const looks = await holdingsOf([barn.peer]).ask(uids.map((uid) => ({ uid })))
    const sizes = barn.requests.map(({ body }) => JSON.parse(body).uids.length)
    expect(sizes).toEqual([1_000, 1_000, 345])
    expect([...looks.values()].filter(({ holders }) => holders.length > 0)).toHaveLength(1)
    expect(looks.get('agent-2344')?.holders).toHaveLength(1)
  })

  it('asks only the peers that a question names', async () => {
    const [barn, coop] = [await server({ held: holds('7c0e') }), await server({ held: holds('7c0e') })]
    const holdings = holdingsOf([barn.peer, coop.peer])
    const name = {
      instanceId: coop.peer.instanceId,
      hostname: '',
      address: '127.0.0.1',
      port: coop.peer.port
    }
    const looks = await holdings.ask([{ uid: '7c0e', peers: [name] }])
    expect(looks.get('7c0e')).toMatchObject({ answered: 1, holders: [{ peer: { port: coop.peer.port } }] })
    expect(barn.requests).toHaveLength(0)
    const gone = await holdings.ask([{ uid: '7c0e', peers: [{ ...name, instanceId: 'nobody' }] }])
    expect(gone.get('7c0e')).toMatchObject({ holders: [], answered: 0, silent: [{ why: 'gone' }] })
  })

  it('knows that nobody is there to be asked', async () => {
    expect(verdictOf(await holdingsOf([]).lanHolders('7c0e'))).toEqual({ kind: 'free', answered: 0 })
  })

  it.runIf(hasIPv6)('over IPv6, with the address in brackets', async () => {
    const barn = await server({ host: '::1', held: holds('7c0e') })
    const look = await holdingsOf([barn.peer]).lanHolders('7c0e')
    expect(look.holders).toHaveLength(1)
    expect(barn.requests[0]?.headers.host).toBe(`[::1]:${barn.peer.port}`)
  })

  it('tries another address of a peer where the first leads nowhere', async () => {
    const barn = await server({ held: holds('7c0e') })
    const peer = { ...barn.peer, address: '127.0.0.77', addresses: ['127.0.0.77', '127.0.0.1'] }
    const holdings = holdingsOf([peer])
    expect((await holdings.lanHolders('7c0e')).holders).toHaveLength(1)
    expect((await holdings.lanHolders('7c0e')).holders).toHaveLength(1)
  })

  it('leaves no connection behind when asked once', async () => {
    const barn = await server({ held: holds('7c0e') })
    const look = await lanHolders('7c0e', {
      peers: () => [barn.peer],
      hostname: 'mill',
      ownLease: () => undefined,
      clock,
      loopback: true,
      timeoutMs: 10_000
    })
    expect(look.holders).toHaveLength(1)
    await Promise.all([...barn.open].map((socket) => once(socket, 'close')))
    expect(barn.open.size).toBe(0)
  })
})

describe('our own lease, reported back', () => {
  it('is dropped by its claim, even under another host name', async () => {
    const barn = await server({ held: holds('7c0e') })
    const look = await holdingsOf([barn.peer], { ownLease: () => lease }).lanHolders('7c0e')
    expect(look).toMatchObject({ holders: [], answered: 1 })
  })

  it('is not taken for ours by host name where there is a claim', async () => {
    const barn = await server({ held: holds('7c0e', { ...lease, hostname: 'mill' }) })
    const ours = { ...lease, claimId: 'ours', hostname: 'mill' }
    const look = await holdingsOf([barn.peer], { ownLease: () => ours }).lanHolders('7c0e')
    expect(look.holders).toHaveLength(1)
    // A newcomer that holds nothing sees it as well.
    expect((await holdingsOf([barn.peer]).lanHolders('7c0e')).holders).toHaveLength(1)
  })

  it('is dropped by host name where an older build says no claim', async () => {
    const older = await server({ older: true, held: holds('7c0e', { ...lease, hostname: 'MILL ' }) })
    expect((await holdingsOf([older.peer]).lanHolders('7c0e')).holders).toEqual([])
    const barn = await server({ older: true, held: holds('7c0e') })
    expect((await holdingsOf([barn.peer]).lanHolders('7c0e')).holders).toMatchObject([{ claim: '' }])
  })
})

describe('older builds', () => {
  it('are asked one by one, and the question that they do not know is not put again', async () => {
    const barn = await server({ older: true, held: holds('b') })
    const holdings = holdingsOf([barn.peer])
    const questions = ['a', 'b c', 'b'].map((uid) => ({ uid }))
    const looks = await holdings.ask(questions)
    expect(looks.get('b')?.holders).toHaveLength(1)
    expect(looks.get('b c')).toMatchObject({ holders: [], answered: 1 })
    await holdings.ask(questions)
    expect(barn.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /agentmux/agent/holdings',
      ...Array(2)
        .fill(['a', 'b%20c', 'b'].map((uid) => `GET /agentmux/agent/holding?uid=${uid}`))
        .flat()
    ])
  })

  it('with many agents each has its turn, round by round', async () => {
    const barn = await server({ older: true })
    const holdings = holdingsOf([barn.peer])
    const uids = Array.from({ length: 200 }, (_, at) => `agent-${at}`)
    const questions = uids.map((uid) => ({ uid }))
    const first = await holdings.ask(questions)
    const reached = [...first.values()].filter(({ answered }) => answered === 1)
    expect(reached).toHaveLength(128)
    expect(whyOf(first.get('agent-199') ?? { silent: [] })).toEqual(['not-asked'])
    await holdings.ask(questions)
    const asked = new Set(barn.requests.filter(({ method }) => method === 'GET').map(({ url }) => url))
    expect(asked.size).toBe(200)
  })

  it('what knows neither question is no evidence', async () => {
    const printer = await server({
      answer: (_request, response) => {
        response.writeHead(405).end('no')
      }
    })
    const look = await holdingsOf([printer.peer]).lanHolders('7c0e')
    expect(look).toMatchObject({ holders: [], answered: 0, silent: [{ why: 'too-old' }] })
    expect(printer.requests).toHaveLength(2)
  })
})

describe('with a LAN secret', () => {
  it('counts who signs with it', async () => {
    const barn = await server({ secret, held: holds('7c0e') })
    const holdings = holdingsOf([barn.peer], { secret })
    expect((await holdings.lanHolders('7c0e')).holders).toHaveLength(1)
    expect((await holdings.lanHolders('7c0e')).holders).toHaveLength(1)
    const nonces = barn.requests.map(({ headers }) => headers['x-agentmux-nonce'])
    expect(new Set(nonces).size).toBe(barn.requests.length)
  })

  it('tells no UID to a peer that has not signed', async () => {
    const servers = [
      await server({ held: holds('7c0e') }),
      await server({ secret: other, held: holds('7c0e') }),
      await server({ older: true, held: holds('7c0e') })
    ]
    const holdings = holdingsOf(
      servers.map(({ peer }) => peer),
      { secret }
    )
    const look = await holdings.lanHolders('7c0e')
    expect(look).toMatchObject({ holders: [], answered: 0 })
    expect(whyOf(look).sort()).toEqual(['bad-signature', 'unsigned', 'unsigned'])
    expect(holdings.unsigned).toBe(2)
    for (const { requests } of servers) {
      expect(requests).toHaveLength(1)
      expect(JSON.stringify(requests)).not.toContain('7c0e')
    }
    expect(verdictOf(look)).toMatchObject({ kind: 'unknown', because: 'mixed' })
  })

  it('believes no answer that was signed for another question', async () => {
    let recorded: string | undefined
    const replaying = await server({
      answer: (request, response) => {
        const body = '{"holdings":{"7c0e":{"held":false}}}'
        const fresh = String(request.headers['x-agentmux-nonce'])
        recorded ??= fresh
        response.setHeader('x-agentmux-signature', signed(recorded, body))
        response.end(body)
      }
    })
    const signed = (nonce: string, body: string) =>
      signAnswer(secret, { nonce, path: '/agentmux/agent/holdings', body }) ?? ''
    const holdings = holdingsOf([replaying.peer], { secret })
    const look = await holdings.lanHolders('7c0e')
    expect(look).toMatchObject({ answered: 0, silent: [{ why: 'bad-signature' }] })
  })

  it('without one, signatures are not looked at', async () => {
    const barn = await server({ secret, held: holds('7c0e') })
    const holdings = holdingsOf([barn.peer])
    expect((await holdings.lanHolders('7c0e')).holders).toHaveLength(1)
    expect(holdings.unsigned).toBe(0)
  })
})

describe('silence', () => {
  it('of somebody who accepts and never answers ends with the one time-out for all', async () => {
    const manual = createManualClock()
    const barn = await server({ held: holds('7c0e') })
    const deaf = await server({ answer: () => {} })
    const holdings = holdingsOf([deaf.peer, barn.peer], { clock: manual, timeoutMs: 1_500 })
    const asking = holdings.lanHolders('7c0e')
    // The time-out for all, and the two of the one question that is left.
    await until(() => deaf.requests.length === 1 && manual.pendingTimers === 3)
    await manual.advance(1_499)
    expect(await Promise.race([asking, Promise.resolve('waiting')])).toBe('waiting')
    await manual.advance(1)
    const look = await asking
    expect(look).toMatchObject({ answered: 1, holders: [{ hostname: 'barn' }] })
    expect(look.silent).toMatchObject([{ peer: { port: deaf.peer.port }, why: 'timed-out' }])
    expect(manual.pendingTimers).toBe(0)
    await until(() => deaf.open.size === 0)
  })

  it('says why: nobody listens, wrong key, nonsense, too much of it', async () => {
    const free = createServer().listen(0, '127.0.0.1')
    await once(free, 'listening')
    const { port } = free.address() as AddressInfo
    await new Promise((resolve) => free.close(resolve))
    const said = async (peer: Peer) => whyOf(await holdingsOf([peer]).lanHolders('7c0e'))
    const answering = async (answer: NonNullable<PeerServerOptions['answer']>) =>
      said((await server({ answer })).peer)

    expect(await said(peerAt({ address: '127.0.0.1', port }))).toEqual(['refused'])
    expect(await said({ ...(await server()).peer, authKey: 'another' })).toEqual(['unauthorized'])
    expect(await said({ ...(await server()).peer, authKey: 'a\r\nx: y' })).toEqual(['bad-record'])
    expect(await said({ ...(await server()).peer, authKey: '' })).toEqual(['bad-record'])
    expect(await said(peerAt({ address: '127.0.0.1', port: 80 }))).toEqual(['bad-record'])
    expect(await said(peerAt({ address: '8.8.8.8', port: 2_000 }))).toEqual(['not-local'])
    expect(await said(peerAt({ address: 'printer.local', port: 2_000 }))).toEqual(['not-local'])
    expect(await answering((_, response) => response.end('{'))).toEqual(['bad-answer'])
    expect(await answering((_, response) => response.end('{"holdings":{}}'))).toEqual(['bad-answer'])
    expect(await answering((_, response) => response.writeHead(500).end('{}'))).toEqual(['bad-answer'])
    expect(await answering((_, response) => response.destroy())).toEqual(['broken'])
    expect(await answering((_, response) => response.end('x'.repeat(1_000_000)))).toEqual(['too-large'])
    const huge = `"${'x'.repeat(20_000)}"`
    expect(
      await answering((_, response) => response.end(`{"holdings":{"7c0e":{"held":false,"x":${huge}}}}`))
    ).toEqual(['too-large'])
  })

  it('follows no redirect', async () => {
    const target = await server({ held: holds('7c0e') })
    const { port } = target.peer
    const sending = await server({
      answer: (_, response) => {
        response.writeHead(307, { location: `http://127.0.0.1:${port}/agentmux/agent/holdings` }).end()
      }
    })
    const look = await holdingsOf([sending.peer]).lanHolders('7c0e')
    expect(whyOf(look)).toEqual(['bad-answer'])
    expect(target.requests).toHaveLength(0)
  })

  it('of everybody is unknown, not free', async () => {
    const deaf = await server({ answer: (_, response) => response.destroy() })
    const barn = await server()
    const alone = await holdingsOf([deaf.peer]).lanHolders('7c0e')
    expect(verdictOf(alone)).toMatchObject({ kind: 'unknown', because: 'broken' })
    const both = await holdingsOf([deaf.peer, barn.peer]).lanHolders('7c0e')
    expect(verdictOf(both)).toMatchObject({ kind: 'partly', answered: 1, silent: [{ why: 'broken' }] })
  })

  it('ends at once when the caller gives up, or closes', async () => {
    const deaf = await server({ answer: () => {} })
    const holdings = holdingsOf([deaf.peer])
    const giveUp = new AbortController()
    const asking = holdings.lanHolders('7c0e', giveUp.signal)
    await until(() => deaf.requests.length === 1)
    giveUp.abort(new Error('enough'))
    await expect(asking).rejects.toThrow('enough')
    const again = holdings.lanHolders('7c0e')
    const rejected = expect(again).rejects.toThrow('closed')
    await until(() => deaf.requests.length === 2)
    await holdings.close()
    await rejected
    await expect(holdings.lanHolders('7c0e')).rejects.toThrow('closed')
    await until(() => deaf.open.size === 0)
  })

  it('a mistake of the caller is thrown at once', async () => {
    const holdings = holdingsOf([])
    await expect(holdings.lanHolders('')).rejects.toThrow(RangeError)
    await expect(holdings.lanHolders('\ud800')).rejects.toThrow(RangeError)
    await expect(holdings.lanHolders(7 as unknown as string)).rejects.toThrow(TypeError)
    for (const timeoutMs of [0, -1, Number.NaN, 60_000]) {
      expect(() => holdingsOf([], { timeoutMs })).toThrow(RangeError)
    }
  })
})

describe('a crowd of peers', () => {
  it('300 that accept and never answer do not keep 200 others from being asked in the same time', async () => {
    const manual = createManualClock()
    const onAddress = (at: number) => `127.7.${at >> 8}.${at & 255}`
    const deaf: PeerServer[] = []
    const kind: PeerServer[] = []
    for (let at = 1; at <= 300; at++) deaf.push(await server({ host: onAddress(at), answer: () => {} }))
    for (let at = 301; at <= 500; at++) {
      kind.push(await server({ host: onAddress(at), held: holds('7c0e') }))
    }
    const peers = [
      ...deaf.map(({ peer }) => peer),
      ...kind.map(({ peer }) => ({ ...peer, firstSeenMs: peer.firstSeenMs + 1 }))
    ]
    const holdings = holdingsOf(peers, { clock: manual, timeoutMs: 1_500 })
    const asking = holdings.lanHolders('7c0e')
    const asked = (servers: readonly PeerServer[]) =>
      servers.filter(({ requests }) => requests.length === 1).length
    await until(() => asked(deaf) === 256)
    await manual.advance(750)
    // One time-out for all, and two for each of those that are still to answer and never will.
    await until(() => asked(kind) === 200 && manual.pendingTimers === 1 + 2 * 44)
    await manual.advance(750)
    const look = await asking
    expect(look.answered).toBe(200)
    expect(look.silent).toHaveLength(300)
    expect(manual.pendingTimers).toBe(0)
  })

  it('asks no more than a bounded number, those that answered before first', async () => {
    const barn = await server({ held: holds('7c0e') })
    const junk = Array.from({ length: 10_000 }, (_, at) =>
      peerAt({ address: '127.0.0.1', port: 1_024 + at, instanceId: `junk-${at}`, firstSeenMs: 0 })
    )
    const known = [barn.peer]
    const all = [...junk, barn.peer]
    let now: readonly Peer[] = known
    const holdings = new LanHoldings({
      peers: () => now,
      hostname: 'mill',
      ownLease: () => undefined,
      clock,
      loopback: true,
      timeoutMs: 10_000
    })
    toClose.push(() => holdings.close())
    await holdings.lanHolders('7c0e')
    now = all
    const look = await holdings.lanHolders('7c0e')
    expect(look.holders).toHaveLength(1)
    expect(look.silent.filter(({ why }) => why === 'not-asked').length).toBeGreaterThanOrEqual(10_000 - 64)
  })
})

async function until(holdsTrue: () => boolean): Promise<void> {
  while (!holdsTrue()) await new Promise((resolve) => setTimeout(resolve, 5))
}
