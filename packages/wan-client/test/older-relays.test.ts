/** What the client does with relays that are older, broken, slow or somebody else: nothing local stops, what we had stays. */
import { describe, expect, it } from 'vitest'
import type { UnknownWhy } from '../src/index.js'
import { BARN, passing, scene, TOKEN } from './scene.js'
import { json, type Script, until } from './scripted-relay.js'

const grants: Script = (_, response) => json(response, 200, { ok: true, epoch: 7 })

const NO_ANSWERS: [string, UnknownWhy, Script][] = [
  ['500', 'http-500', (_, response) => json(response, 500, { ok: true, epoch: 1 })],
  [
    'a page with 200',
    'bad-answer',
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' })
      response.end('<html>sign in</html>')
    }
  ],
  ['{}', 'bad-answer', (_, response) => json(response, 200, {})],
  ['null', 'bad-answer', (_, response) => json(response, 200, null)],
  ['ok that is no boolean', 'bad-answer', (_, response) => json(response, 200, { ok: 'true', epoch: 1 })],
  [
    'an epoch that is no number',
    'bad-answer',
    (_, response) => json(response, 200, { ok: true, epoch: '1' })
  ],
  [
    'an epoch above 2^53',
    'bad-answer',
    (_, response) => {
      response.end('{"ok":true,"epoch":9007199254740993}')
    }
  ],
  [
    'ok inherited',
    'bad-answer',
    (_, response) => {
      response.end('{"__proto__":{"ok":true,"epoch":1}}')
    }
  ],
  ['an expired token', 'unauthorized', (_, response) => json(response, 401, { error: 'unauthorized' })],
  ['403', 'forbidden', (_, response) => json(response, 403, {})],
  [
    'a redirect',
    'redirected',
    (asked, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:1${asked.path}` })
      response.end()
    }
  ],
  [
    '409 with a page',
    'bad-answer',
    (_, response) => {
      response.writeHead(409)
      response.end('<html>')
    }
  ],
  ['409 {}', 'bad-answer', (_, response) => json(response, 409, {})],
  ['409 of another kind', 'bad-answer', (_, response) => json(response, 409, { error: 'conflict' })],
  [
    '409 with a holder that is none',
    'bad-answer',
    (_, response) => json(response, 409, { error: 'held_by_other', held_by: 'barn' })
  ],
  [
    'a huge body',
    'too-large',
    (_, response) => {
      response.writeHead(200)
      const filler = 'x'.repeat(64 * 1024)
      const more = () => {
        while (!response.destroyed && response.write(filler));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    }
  ],
  ['silence', 'timed-out', () => {}],
  [
    'a body that never ends',
    'timed-out',
    (_, response) => {
      response.writeHead(200)
      response.write('{"ok":')
    }
  ],
  [
    'a body cut in the middle',
    'broken',
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{"ok":true', () => response.destroy())
    }
  ],
  [
    'no HTTP',
    'broken',
    (_, response) => {
      response.socket?.end('SSH-2.0-OpenSSH_9.2\r\n')
    }
  ]
]

describe.each(NO_ANSWERS)('%s', (_, why, script) => {
  it('is unknown to a claim, and leaves a lease as it was', async () => {
    const { relay, clock, client, troubles } = await scene(grants)
    await client.leases.ensure('held')
    await clock.advance(20_000)
    relay.script(script)
    expect(await passing(clock, client.leases.ensure('fresh'))).toEqual({ kind: 'unknown', why })
    expect(await passing(clock, client.leases.ensure('held'))).toEqual({ kind: 'unknown', why })
    const batch = await passing(clock, client.leases.renewHeldBatch())
    expect(batch.elsewhere).toEqual([])
    expect(batch.unanswered).toHaveLength(1)
    expect(client.leases.isHeld('held')).toBe(true)
    expect(client.leases.heldElsewhere('held')).toBeUndefined()
    expect(client.leases.heldElsewhere('fresh')).toBeUndefined()
    expect(troubles.length).toBeGreaterThanOrEqual(3)
    expect(JSON.stringify([troubles, batch])).not.toContain(TOKEN)
    expect(clock.pendingTimers).toBe(0)

    relay.script(grants)
    await client.leases.ensure('held')
    expect(client.leases.isHeld('held')).toBe(true)
  })

  it('is unknown to the messages and the query', async () => {
    const { clock, client } = await scene(script)
    const answers = await passing(
      clock,
      Promise.all([
        client.leases.holder('agent3'),
        client.messages.pending('agent3'),
        client.messages.ack('agent3', ['1'])
      ])
    )
    for (const answer of answers) expect(answer.kind).toBe('unknown')
  })
})

describe('a relay without', () => {
  const missing =
    (...paths: string[]): Script =>
    (asked, response) => {
      if (paths.some((path) => asked.path === path || path === '*'))
        return json(response, 404, { error: 'no' })
      if (asked.path === '/agents/lease/renew-batch') {
        const results = asked.body.agents.map((agent_id: string) => ({ agent_id, ok: true, epoch: 1 }))
        return json(response, 200, { results })
      }
      json(response, 200, { ok: true, epoch: 1 })
    }

  it('anything: is left alone for ten minutes, route by route', async () => {
    const { relay, clock, client } = await scene(missing('*'))
    for (let round = 0; round < 3; round++) {
      expect(await client.leases.ensure('agent3')).toEqual({ kind: 'unknown', why: 'route-missing' })
      expect(await client.leases.holder('agent3')).toEqual({ kind: 'unknown', why: 'route-missing' })
      await client.messages.pending('agent3')
    }
    expect(relay.asked).toHaveLength(3)
    expect(client.leases.unreleased()).toEqual([])
    await clock.advance(599_999)
    await client.leases.ensure('agent3')
    expect(relay.asked).toHaveLength(3)
    relay.script(grants)
    await clock.advance(1)
    expect(await client.leases.ensure('agent3')).toMatchObject({ kind: 'held' })
  })

  it('take: claims instead, and everything else goes on', async () => {
    const { clock, client } = await scene(missing('/agents/lease/take'))
    expect(await client.leases.takeOver('agent3')).toEqual({ kind: 'held', epoch: 1 })
    await clock.advance(20_000)
    expect((await client.leases.renewHeldBatch()).held).toEqual(['agent3'])
  })

  it('renew-batch: renews one by one, asks for the batch again after ten minutes', async () => {
    const { relay, clock, client } = await scene(missing('/agents/lease/renew-batch'))
    for (const agent of ['a', 'b', 'c']) await client.leases.ensure(agent)
    for (let round = 0; round < 2; round++) {
      expect([...(await client.leases.renewHeldBatch()).held].sort()).toEqual(['a', 'b', 'c'])
    }
    const paths = relay.asked.slice(3).map(({ path }) => path)
    expect(paths.filter((path) => path.endsWith('renew-batch'))).toHaveLength(1)
    expect(paths.filter((path) => path.endsWith('renew'))).toHaveLength(6)
    await clock.advance(600_000)
    relay.script(missing())
    expect((await client.leases.renewHeldBatch()).held).toHaveLength(3)
    expect(relay.asked.at(-1)?.path).toBe('/agents/lease/renew-batch')
  })

  it('renew: claims, which is the same for the holder', async () => {
    const { clock, client } = await scene(missing('/agents/lease/renew', '/agents/lease/renew-batch'))
    await client.leases.ensure('a')
    await clock.advance(20_000)
    expect(await client.leases.ensure('a')).toEqual({ kind: 'held', epoch: 1 })
    expect((await client.leases.renewHeldBatch()).held).toEqual(['a'])
  })

  it('the query (405): says so, and everything else goes on', async () => {
    const { client } = await scene((asked, response) =>
      asked.method === 'GET' ? json(response, 405, {}) : json(response, 200, { ok: true, epoch: 1 })
    )
    expect(await client.leases.holder('a')).toEqual({ kind: 'unknown', why: 'route-missing' })
    expect(await client.leases.ensure('a')).toMatchObject({ kind: 'held' })
  })
})

describe('a 409', () => {
  it.each([
    ['of an older relay without held_by', { error: 'held_by_other' }, ''],
    ['with a holder of whom nothing is said', { held_by: {} }, ''],
    [
      'with unknown keys',
      { error: 'held_by_other', held_by: { ...BARN, account: 'x' }, more: [1] },
      'computer barn, channel dev, v0.44.0'
    ],
    [
      'with control characters',
      { held_by: { host: ' ba\u001b[31mrn\u202e', channel: 'd\nev' } },
      'computer ba[31mrn, channel dev'
    ]
  ])('%s is held elsewhere', async (_, body, text) => {
    const { client } = await scene((__, response) => json(response, 409, body))
    const answer = await client.leases.ensure('agent3')
    if (answer.kind !== 'held-elsewhere') throw new Error(answer.kind)
    expect(client.leases.describeHolder(answer.holder)).toBe(text)
  })

  it('to a claim, by nobody, is no answer', async () => {
    const { client } = await scene((_, response) => json(response, 409, { held_by: null }))
    expect(await client.leases.ensure('agent3')).toEqual({ kind: 'unknown', why: 'bad-answer' })
  })
})

describe('Retry-After', () => {
  it.each([
    ['seconds', () => '30', 30_000],
    ['a date', (nowMs: number) => new Date(nowMs + 40_000).toUTCString(), 40_000],
    ['too much', () => '86400', 120_000]
  ])('in %s holds everything back until then, but what a person asked for', async (_, header, pauseMs) => {
    const { relay, clock, client } = await scene(grants)
    await client.leases.ensure('agent3')
    relay.script((__, response) => json(response, 503, {}, { 'retry-after': header(clock.wallMs()) }))
    expect(await client.leases.ensure('agent4')).toEqual({ kind: 'unknown', why: 'http-503' })
    expect(client.pausedForMs()).toBe(pauseMs)
    relay.script(grants)
    await clock.advance(pauseMs - 1)
    expect(await client.leases.ensure('agent4')).toEqual({ kind: 'unknown', why: 'paused' })
    expect(client.leases.isHeld('agent3')).toBe(true)
    expect(await client.leases.takeOver('agent5')).toMatchObject({ kind: 'held' })
    await clock.advance(1)
    expect(await client.leases.ensure('agent4')).toMatchObject({ kind: 'held' })
  })
})

describe('the token', () => {
  it('is asked for each request; none means off, and no trouble', async () => {
    const tokens = ['one', '', undefined, 'two']
    const { relay, client, troubles } = await scene(grants, { token: () => tokens.shift() })
    const kinds = []
    for (const agent of ['a', 'b', 'c', 'd']) kinds.push(await client.leases.ensure(agent))
    expect(kinds.map((each) => (each.kind === 'unknown' ? each.why : each.kind))).toEqual([
      'held',
      'no-token',
      'no-token',
      'held'
    ])
    expect(relay.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer one', 'Bearer two'])
    expect(troubles).toEqual([])
  })

  it('that fails, hangs or cannot be sent is trouble, and is never told', async () => {
    for (const token of [
      () => {
        throw new Error(`keychain says ${TOKEN}`)
      },
      async () => new Promise<string>(() => {}),
      () => `${TOKEN}\r\nX-Evil: 1`,
      () => `${TOKEN}\u00e9`
    ]) {
      const { relay, clock, client, troubles } = await scene(grants, { token })
      expect(await passing(clock, client.leases.ensure('a'))).toEqual({
        kind: 'unknown',
        why: 'token-failed'
      })
      expect(relay.asked).toHaveLength(0)
      expect(JSON.stringify(troubles)).not.toContain('Secret')
    }
  })
})

describe('a lost reply', () => {
  it('is asked for once more, with the same request', async () => {
    let lost = 0
    const { relay, clock, client } = await scene((_, response) => {
      lost += 1
      if (lost % 2 === 1) response.destroy()
      else json(response, 200, { ok: true, epoch: 4 })
    })
    expect(await passing(clock, client.leases.ensure('agent3'))).toEqual({ kind: 'held', epoch: 4 })
    const [first, second] = relay.asked
    expect(relay.asked).toHaveLength(2)
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
    expect(second?.body).toEqual(first?.body)
  })

  it('of a message is not: an older relay would keep it twice', async () => {
    const { relay, clock, client } = await scene((_, response) => {
      response.destroy()
    })
    const injecting = client.messages.inject({ targetAgent: 'agent3', message: 'hello' })
    expect(await passing(clock, injecting)).toEqual({ kind: 'unknown', why: 'broken' })
    expect(relay.asked).toHaveLength(1)
  })

  it('is not asked for again by a caller who has gone', async () => {
    const { relay, clock, client } = await scene((_, response) => {
      response.destroy()
    })
    const gone = new AbortController()
    const asking = client.leases.ensure('agent3', { signal: gone.signal })
    await until(() => relay.sockets.size === 0 && relay.asked.length === 1 && clock.pendingTimers === 1)
    gone.abort(new Error('gone'))
    await expect(asking).rejects.toThrow('gone')
    expect(relay.asked).toHaveLength(1)
    expect(clock.pendingTimers).toBe(0)
  })

  it('is not asked for a third time, nor after the time is up', async () => {
    const { relay, clock, client } = await scene((_, response) => {
      response.destroy()
    })
    expect(await passing(clock, client.leases.ensure('agent3'))).toEqual({ kind: 'unknown', why: 'broken' })
    expect(relay.asked).toHaveLength(2)
  })
})

it('a relay that is not there is unreachable, and the client ends with its connections', async () => {
  const { relay, clock, client } = await scene(grants)
  await relay.close()
  expect(await passing(clock, client.leases.ensure('agent3'))).toEqual({
    kind: 'unknown',
    why: 'unreachable'
  })
  await client.close()
  expect(await client.leases.ensure('agent3')).toEqual({ kind: 'unknown', why: 'closed' })
})
