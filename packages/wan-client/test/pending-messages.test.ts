import { describe, expect, it, onTestFinished } from 'vitest'
import { PendingMessages, type RelayMessage } from '../src/index.js'
import { QueueingRelay } from './queueing-relay.js'
import { BARN, passing, scene } from './scene.js'
import { json, until } from './scripted-relay.js'

async function receiving(live: Set<string>, deliver = async (_: string, __: RelayMessage) => true) {
  const queues = new QueueingRelay()
  const made = await scene(queues.script)
  const delivered: string[] = []
  const notHolder: string[] = []
  const pending = new PendingMessages({
    client: made.client,
    liveAgents: () => live,
    isLive: (agent) => live.has(agent),
    deliver: async (agent, message) => {
      const taken = await deliver(agent, message)
      if (taken) delivered.push(`${agent}:${message.message}`)
      return taken
    },
    onNotHolder: (agent, holder) => notHolder.push(`${agent}:${holder.hostname}`),
    onFault: (fault) => {
      throw fault
    }
  })
  onTestFinished(() => passing(made.clock, pending.stop()))
  return { ...made, queues, pending, delivered, notHolder }
}

describe('messages', () => {
  it('are fetched at the start, claimed before they are delivered, in their order', async () => {
    const { queues, pending, relay, delivered } = await receiving(new Set(['a', 'b']))
    for (const text of ['1', '2', '3']) queues.put('a', text)
    queues.put('b', '4')
    pending.start()
    await until(() => delivered.length === 4)
    expect(delivered.filter((each) => each.startsWith('a'))).toEqual(['a:1', 'a:2', 'a:3'])
    const acks = relay.asked.filter(({ path }) => path === '/reactive/ack')
    expect(acks.map(({ body }) => body.injection_ids)).toHaveLength(4)
    expect(acks[0]?.headers['x-agent-id']).toMatch(/^[ab]$/)
  })

  it('are fetched on a wake, for the agent it names, and after every 120 s', async () => {
    const { queues, pending, relay, clock, delivered } = await receiving(new Set(['a', 'b']))
    pending.start()
    await until(() => queues.wakes.size === 1)
    await pending.idle()
    await until(() => relay.asked.filter(({ path }) => path.includes('/pending/')).length >= 2)
    await pending.idle()
    const before = relay.asked.length
    queues.put('a', 'hello')
    queues.wake('a')
    await until(() => delivered.length === 1)
    await pending.idle()
    expect(relay.asked.slice(before).every(({ headers }) => headers['x-agent-id'] === 'a')).toBe(true)
    queues.wake('somebody-else')
    queues.put('b', 'silent')
    await clock.advance(30_000)
    queues.wakes.forEach((stream) => {
      stream.write(':\n\n')
    })
    expect(delivered).toHaveLength(1)
    await clock.advance(120_000)
    await until(() => delivered.length === 2)
  })

  it('are polled from a relay that has no wake, which is left alone', async () => {
    const { queues, pending, relay, clock, delivered } = await receiving(new Set(['a']))
    queues.wakeStatus = 404
    pending.start()
    await until(() => relay.asked.length >= 2)
    await pending.idle()
    queues.put('a', 'late')
    await clock.advance(120_000)
    await until(() => delivered.length === 1)
    await clock.advance(400_000)
    await pending.idle()
    expect(relay.asked.filter(({ path }) => path === '/reactive/wake')).toHaveLength(1)
    await clock.advance(100_000)
    await until(() => relay.asked.filter(({ path }) => path === '/reactive/wake').length === 2)
  })

  it('are woken again after the pause that the relay asks for, not before', async () => {
    const { queues, pending, relay, clock } = await receiving(new Set())
    const wakes = () => relay.asked.filter(({ path }) => path === '/reactive/wake').length
    queues.before = (asked, response) => {
      if (asked.path !== '/reactive/wake' || wakes() > 1) return false
      json(response, 503, {}, { 'retry-after': '40' })
      return true
    }
    pending.start()
    await until(() => wakes() === 1 && clock.pendingTimers === 2)
    await clock.advance(40_499)
    expect(wakes()).toBe(1)
    await clock.advance(1)
    await until(() => queues.wakes.size === 1)
  })

  it('are looked for again when the wake comes back, which it does after silence', async () => {
    const { queues, pending, clock, delivered } = await receiving(new Set(['a']))
    pending.start()
    await until(() => queues.wakes.size === 1)
    await pending.idle()
    const [first] = queues.wakes
    queues.put('a', 'while deaf')
    await clock.advance(45_000)
    await until(() => first?.destroyed === true)
    await clock.advance(500)
    await until(() => delivered.length === 1)
  })

  it('that cannot be delivered go back, and are tried again less and less often', async () => {
    let works = false
    const { queues, pending, clock, delivered } = await receiving(new Set(['a']), async () => {
      if (!works) throw new Error('the pane is gone')
      return true
    })
    queues.put('a', 'stubborn')
    pending.start()
    await until(() => queues.givenBack.length === 1)
    await pending.idle()
    queues.wake('a')
    await clock.advance(4_999)
    expect(queues.givenBack).toHaveLength(1)
    await clock.advance(1)
    await until(() => queues.givenBack.length === 2)
    await pending.idle()
    works = true
    await clock.advance(10_000)
    await until(() => delivered.length === 1)
    expect(delivered).toEqual(['a:stubborn'])
  })

  it('that an agent takes one at a time are tried again every 5 s, however many there are', async () => {
    let room = 1
    const { queues, pending, clock, delivered } = await receiving(new Set(['a']), async () => room-- > 0)
    for (const text of ['1', '2', '3', '4', '5']) queues.put('a', text)
    pending.start()
    for (const count of [1, 2, 3, 4]) {
      await until(() => queues.givenBack.length === count)
      await pending.idle()
      expect(delivered).toHaveLength(count)
      room = 1
      await clock.advance(5_000)
    }
    await until(() => delivered.length === 5)
    expect(delivered).toEqual(['1', '2', '3', '4', '5'].map((text) => `a:${text}`))
  })

  it('of an agent that another computer holds are left alone, and the app is told', async () => {
    const { queues, pending, relay, client, notHolder, delivered } = await receiving(new Set(['a']))
    queues.put('a', 'not ours')
    queues.elsewhere.set('a', BARN)
    pending.start()
    await until(() => notHolder.length > 0)
    await pending.idle()
    expect(notHolder).toEqual(['a:barn'])
    expect(client.leases.heldElsewhere('a')).toMatchObject({ hostname: 'barn' })
    expect(relay.asked.filter(({ path }) => path === '/reactive/ack')).toEqual([])
    pending.look('a')
    await pending.idle()
    expect(relay.asked.filter(({ path }) => path.includes('/pending/'))).toHaveLength(1)
    expect(delivered).toEqual([])
  })

  it('that wait for a holder are fetched once the relay has made us that', async () => {
    const { queues, pending, client, delivered } = await receiving(new Set(['a']))
    queues.put('a', 'patient')
    queues.elsewhere.set('a', null)
    queues.before = (asked, response) => {
      if (asked.path !== '/agents/lease') return false
      queues.elsewhere.delete('a')
      json(response, 200, { ok: true, epoch: 1 })
      return true
    }
    pending.start()
    await pending.idle()
    expect(delivered).toEqual([])
    await client.leases.ensure('A')
    await until(() => delivered.length === 1)
  })

  it('are not fenced by a refusal to a request that began before a take-over', async () => {
    const { queues, pending, client, notHolder } = await receiving(new Set(['a']))
    queues.before = (asked, response) => {
      if (!asked.path.includes('/pending/')) return false
      client.leases.forgetElsewhere('a')
      json(response, 409, { error: 'not_holder', held_by: BARN })
      return true
    }
    pending.look('a')
    await pending.idle()
    expect(notHolder).toEqual([])
    expect(client.leases.heldElsewhere('a')).toBeUndefined()
  })

  it('whose claim was answered and lost are asked for again with the same key, and delivered once', async () => {
    const { queues, pending, relay, clock, delivered } = await receiving(new Set(['a']))
    queues.put('a', 'once')
    let losing = true
    queues.before = (asked, response) => {
      if (asked.path !== '/reactive/ack' || !losing) return false
      queues.ack(asked)
      response.destroy()
      return true
    }
    pending.look('a')
    await passing(clock, pending.idle())
    expect(delivered).toEqual([])
    losing = false
    pending.look('a')
    await passing(clock, pending.idle())
    expect(delivered).toEqual(['a:once'])
    const keys = relay.asked
      .filter(({ path }) => path === '/reactive/ack')
      .map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  it('that somebody else won are not delivered, and do not keep us asking', async () => {
    const { queues, pending, relay, delivered } = await receiving(new Set(['a']))
    queues.put('a', 'raced')
    queues.before = (asked, response) => {
      if (asked.path !== '/reactive/ack') return false
      json(response, 200, { acknowledged: ['something-else'] })
      return true
    }
    pending.look('a')
    await pending.idle()
    expect(delivered).toEqual([])
    expect(relay.asked).toHaveLength(2)
  })

  it('that were claimed go back when the pane has ended, and at the end', async () => {
    const live = new Set(['a', 'b'])
    const { queues, pending, clock, delivered } = await receiving(live)
    queues.put('a', 'ended')
    queues.put('b', 'lost')
    queues.before = (asked, response) => {
      if (asked.path !== '/reactive/ack') return false
      live.delete('a')
      if (asked.headers['x-agent-id'] !== 'b') return false
      queues.ack(asked)
      response.destroy()
      return true
    }
    pending.look()
    await passing(clock, pending.idle())
    expect(queues.givenBack).toEqual(['m1'])
    await passing(clock, pending.stop())
    expect(queues.givenBack).toEqual(['m1', 'm2'])
    expect(delivered).toEqual([])
    expect(queues.messages.every(({ ackedBy }) => ackedBy === undefined)).toBe(true)
    pending.look()
    pending.start()
    expect(clock.pendingTimers).toBe(0)
  })

  it('that the relay cannot take back just now are held until it can, and for an hour at most', async () => {
    const { queues, pending, relay, clock, delivered } = await receiving(new Set(['a']), async () => false)
    queues.put('a', 'kept')
    queues.before = (asked, response) => {
      if (asked.path !== '/reactive/release') return false
      json(response, 500, {})
      return true
    }
    const asked = (path: string) => relay.asked.filter((each) => each.path.startsWith(path)).length
    pending.look('a')
    await pending.idle()
    await clock.advance(5_000)
    await until(() => asked('/reactive/release') === 2)
    await pending.idle()
    expect(asked('/reactive/pending/')).toBe(1)
    await clock.advance(3_600_000)
    pending.look('a')
    await pending.idle()
    expect(asked('/reactive/pending/')).toBe(2)
    expect(delivered).toEqual([])
  })

  it('that the relay no longer wants back do not block the others', async () => {
    let failing = true
    const { queues, pending, clock, delivered } = await receiving(new Set(['a']), async () => !failing)
    queues.put('a', 'gone')
    queues.before = (asked, response) => {
      if (asked.path !== '/reactive/release') return false
      json(response, 410, {})
      return true
    }
    pending.look('a')
    await passing(clock, pending.idle(), 1)
    failing = false
    queues.put('a', 'next')
    await clock.advance(5_000)
    await until(() => delivered.length === 1)
    expect(delivered).toEqual(['a:next'])
  })
})

it('a message is sent within its bounds', async () => {
  const { client, relay } = await scene((_, response) =>
    json(response, 200, { success: true, injection_id: 'i1' })
  )
  const { messages } = client
  expect(
    await messages.inject({ targetAgent: 'Agent3', sourceAgent: 'Boss', message: 'hi', priority: 'high' })
  ).toEqual({ kind: 'injected', id: 'i1' })
  expect(relay.asked[0]).toMatchObject({
    path: '/reactive/inject',
    headers: { 'x-agent-id': 'boss' },
    body: { target_agent: 'agent3', message: 'hi', priority: 'high' }
  })
  await expect(messages.inject({ targetAgent: 'a', message: '' })).rejects.toThrow(RangeError)
  await expect(messages.inject({ targetAgent: 'a', message: 'é'.repeat(5_121) })).rejects.toThrow(
    '10240 bytes, not 10242'
  )
  expect(await messages.inject({ targetAgent: '..', message: 'x' })).toEqual({
    kind: 'unknown',
    why: 'unusable-name'
  })
})
