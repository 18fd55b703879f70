/** The message routes as PROTOCOL words them, and the wake stream. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../harness/client.js'
import { type House, openHouse } from '../harness/house.js'
import { WakeReader } from '../harness/wake-reader.js'

describe('messages', () => {
  let house: House
  let token: string
  let anna: Client
  let ben: Client
  beforeEach(async () => {
    house = await openHouse({ limits: { heartbeatMs: 50, streamsPerToken: 2 } })
    token = await house.token()
    anna = new Client(house.url, { token, agent: 'Agent3' })
    ben = new Client(house.url, { token, agent: 'agent4', install: 'install-b' })
  })
  afterEach(() => house.close())

  test('inject, pull, ack: each once, with what was said', async () => {
    await anna.claim('agent3')
    const injected = await ben.inject(' AGENT3', 'go on', { priority: 'high' })
    expect(injected).toMatchObject({ status: 200, json: { success: true } })
    const id = injected.json.injection_id
    const { injections } = (await anna.pending('agent3')).json
    expect(injections).toEqual([
      { id, source_agent: 'agent4', message: 'go on', priority: 'high', created_at: expect.any(Number) }
    ])
    expect((await anna.ack('agent3', [id, id])).json).toEqual({ acknowledged: [id] })
    expect((await anna.ack('agent3', [id])).json).toEqual({ acknowledged: [] })
    expect((await anna.pending('agent3')).json).toEqual({ injections: [] })
  })

  test('injected while one holds and pulled by another: 409, and nothing is consumed', async () => {
    await anna.claim('agent3')
    const { injection_id } = (await ben.inject('agent3', 'for the holder')).json
    const notHolder = { status: 409, json: { error: 'not_holder', held_by: { host: 'mill' } } }
    expect(await ben.pending('agent3')).toMatchObject(notHolder)
    expect(await ben.ack('agent3', [injection_id])).toMatchObject(notHolder)
    expect((await anna.pending('agent3')).json.injections).toHaveLength(1)
    expect((await anna.ack('agent3', [injection_id])).json.acknowledged).toEqual([injection_id])
  })

  test('a lost answer to an ack is had by asking again with the same key', async () => {
    await anna.claim('agent3')
    const { injection_id } = (await ben.inject('agent3', 'one')).json
    for (let count = 0; count < 3; count++) {
      expect((await anna.ack('agent3', [injection_id], 'key-1')).json.acknowledged).toEqual([injection_id])
    }
    expect((await anna.ack('agent3', [injection_id], 'key-2')).json.acknowledged).toEqual([])
  })

  test('a message that could not be delivered is given back, and pulled again', async () => {
    await anna.claim('agent3')
    const { injection_id } = (await ben.inject('agent3', 'one')).json
    await anna.ack('agent3', [injection_id])
    expect(await ben.giveBack('agent3', injection_id)).toMatchObject({ status: 409 })
    expect(await anna.giveBack('agent3', injection_id)).toMatchObject({ status: 200, json: { ok: true } })
    expect(await anna.giveBack('agent3', injection_id)).toMatchObject({ status: 200 })
    expect((await anna.pending('agent3')).json.injections).toMatchObject([{ id: injection_id }])
    expect(await anna.giveBack('agent3', 'no such id')).toMatchObject({
      status: 409,
      json: { held_by: null }
    })
  })

  test('at most 10,240 bytes of UTF-8, not empty; an answer holds so many that it stays below a MiB', async () => {
    await anna.claim('agent3')
    expect(await ben.inject('agent3', '')).toMatchObject({ status: 400 })
    expect(await ben.inject('agent3', 'ü'.repeat(5_120))).toMatchObject({ status: 200 })
    expect(await ben.inject('agent3', `${'ü'.repeat(5_120)}x`)).toMatchObject({ status: 413 })
    for (let count = 0; count < 60; count++) await ben.inject('agent3', '\u0001'.repeat(10_240))
    const { injections } = (await anna.pending('agent3')).json
    expect(injections).toHaveLength(50)
  })

  test('a full queue is 507, and nobody is told to stop asking', async () => {
    const full = await openHouse({ store: { queue: 1 } })
    try {
      const client = new Client(full.url, { token: await full.token() })
      expect(await client.inject('agent3', 'one')).toMatchObject({ status: 200 })
      const second = await client.inject('agent3', 'two')
      expect(second).toMatchObject({ status: 507, json: { error: 'queue_full', success: false } })
      expect(second.headers.get('retry-after')).toBeNull()
    } finally {
      await full.close()
    }
  })

  test('ack and release need an agent, from the header or the token', async () => {
    const nameless = new Client(house.url, { token })
    const answer = await nameless.post('/reactive/ack', { injection_ids: [] })
    expect(answer).toMatchObject({ status: 400, json: { error: 'X-Agent-ID is required' } })
  })

  test('the wake stream says at once that it is there, then which agent has something, and gives signs of life', async () => {
    const reader = await WakeReader.open(house.url, token)
    expect(reader.contentType).toMatch(/^text\/event-stream/)
    expect(await reader.next()).toEqual({ event: 'ready', data: {} })
    await reader.signOfLife()
    await anna.claim('agent3')
    const { injection_id } = (await ben.inject('Agent3', 'the words of the message')).json
    expect(await reader.next()).toEqual({ event: 'wake', data: { agent_id: 'agent3' } })
    await anna.ack('agent3', [injection_id])
    await anna.giveBack('agent3', injection_id)
    expect(await reader.next()).toEqual({ event: 'wake', data: { agent_id: 'agent3' } })
    expect(reader.text).not.toContain('the words of the message')
    await reader.close()
  })

  test('it wakes the account alone, and a token of one agent for that agent alone', async () => {
    const own = await WakeReader.open(house.url, await house.token({ agent: 'agent3' }))
    const other = await WakeReader.open(house.url, await house.token({ account: 'other' }))
    const stranger = new Client(house.url, { token: await house.token({ account: 'other' }) })
    await own.next()
    await other.next()
    await ben.inject('agent4', 'not for agent3')
    await ben.inject('agent3', 'for agent3')
    expect(await own.next()).toEqual({ event: 'wake', data: { agent_id: 'agent3' } })
    await stranger.inject('agent9', 'of the other account')
    expect(await other.next()).toEqual({ event: 'wake', data: { agent_id: 'agent9' } })
    await own.close()
    await other.close()
  })

  test('it ends for a token that is revoked, and for no other', async () => {
    const [known] = await house.store.tokens.list()
    const revoked = await house.token()
    const added = (await house.store.tokens.list()).find(({ id }) => id !== known?.id)
    const gone = await WakeReader.open(house.url, revoked)
    const kept = await WakeReader.open(house.url, token)
    await gone.next()
    await kept.next()
    expect(await house.store.tokens.revoke(added?.id ?? '')).toBe(true)
    await gone.ended()
    await ben.inject('agent3', 'go on')
    expect(await kept.next()).toEqual({ event: 'wake', data: { agent_id: 'agent3' } })
    await kept.close()
  })

  test('there are so many streams per token, and one that is closed makes room', async () => {
    const readers = [await WakeReader.open(house.url, token), await WakeReader.open(house.url, token)]
    const refused = await anna.ask('GET', '/reactive/wake')
    expect(refused.status).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    await readers[0]?.close()
    readers[0] = await WakeReader.openWhenThereIsRoom(house.url, token)
    for (const reader of readers) await reader.close()
  })
})
