/** Who may ask, for what, and how often. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../harness/client.js'
import { type House, openHouse } from '../harness/house.js'

describe('access', () => {
  let house: House
  beforeEach(async () => {
    house = await openHouse({ limits: { requestsPerSecond: 20 } })
  })
  afterEach(() => house.close())

  test.each([
    ['POST', '/agents/lease'],
    ['POST', '/agents/lease/renew'],
    ['POST', '/agents/lease/release'],
    ['POST', '/agents/lease/take'],
    ['POST', '/agents/lease/renew-batch'],
    ['GET', '/agents/lease/agent3'],
    ['GET', '/reactive/pending/agent3'],
    ['GET', '/reactive/wake'],
    ['POST', '/reactive/ack'],
    ['POST', '/reactive/release'],
    ['POST', '/reactive/inject'],
    ['GET', '/no/such/route']
  ])('%s %s opens to a token alone', async (method, path) => {
    const body = method === 'POST' ? { body: '{}' } : {}
    for (const authorization of [
      '',
      'Bearer',
      'Bearer amx_wrong',
      'Basic YTpi',
      `Bearer ${'x'.repeat(600)}`
    ]) {
      const answer = await new Client(house.url, { token: '' }).ask(method, path, {
        ...body,
        headers: { authorization }
      })
      expect(answer).toMatchObject({ status: 401, json: { error: 'unauthorized' } })
    }
  })

  test('a revoked and an expired token open nothing', async () => {
    const token = await house.token({ id: 'to-be-revoked' })
    const client = new Client(house.url, { token })
    expect(await client.look('agent3')).toMatchObject({ status: 200 })
    await house.store.tokens.revoke('to-be-revoked')
    expect(await client.look('agent3')).toMatchObject({ status: 401 })
    const expired = await house.token({ expiresAtMs: Date.now() - 1 })
    expect(await new Client(house.url, { token: expired }).look('agent3')).toMatchObject({ status: 401 })
  })

  test('a token of one agent speaks for that agent alone, and may write to others', async () => {
    const own = new Client(house.url, { token: await house.token({ agent: 'agent3' }) })
    const all = new Client(house.url, { token: await house.token(), install: 'install-b' })
    expect(await own.claim('Agent3')).toMatchObject({ status: 200 })
    for (const answer of [
      await own.claim('agent4'),
      await own.renew('agent4'),
      await own.release('agent4'),
      await own.take('agent4'),
      await own.look('agent4'),
      await own.pending('agent4')
    ]) {
      expect(answer).toMatchObject({ status: 403 })
    }
    expect((await own.renewAll(['agent3', 'agent4'])).json.results).toHaveLength(1)
    await all.claim('agent4')
    const { injection_id } = (await own.inject('agent4', 'hello')).json
    expect((await all.pending('agent4')).json.injections).toMatchObject([
      { id: injection_id, source_agent: 'agent3', message: 'hello' }
    ])
    // Its acks are those of its own agent, whatever it calls itself.
    expect((await own.ack('agent4', [injection_id])).json).toEqual({ acknowledged: [] })
    expect((await all.ack('agent4', [injection_id])).json).toEqual({ acknowledged: [injection_id] })
  })

  test('another account learns nothing: the answers are those of a free agent and an empty queue', async () => {
    const holder = new Client(house.url, { token: await house.token() })
    await holder.claim('agent3')
    const { injection_id } = (await holder.inject('agent3', 'hello')).json
    const stranger = new Client(house.url, { token: await house.token({ account: 'other' }) })
    expect((await stranger.look('agent3')).json).toEqual({ state: 'free' })
    expect(await stranger.renew('agent3')).toMatchObject({ status: 409, json: { held_by: null } })
    expect(await stranger.take('agent3')).toMatchObject({ status: 409, json: { held_by: null } })
    expect(await stranger.pending('agent3')).toMatchObject({ status: 409, json: { held_by: null } })
    expect(await stranger.ack('agent3', [injection_id])).toMatchObject({
      status: 409,
      json: { held_by: null }
    })
    expect(await stranger.giveBack('agent3', injection_id)).toMatchObject({ status: 409 })
    expect(await stranger.claim('agent3')).toMatchObject({ status: 200, json: { epoch: 1 } })
    expect((await stranger.pending('agent3')).json).toEqual({ injections: [] })
    expect((await holder.look('agent3')).json).toMatchObject({ state: 'yours' })
  })

  test('web pages are turned away, with and without a token', async () => {
    const client = new Client(house.url, { token: await house.token() })
    const headers = { origin: house.url }
    expect(await client.ask('GET', '/agents/lease/agent3', { headers })).toMatchObject({ status: 403 })
    expect(await client.ask('GET', '/health', { headers })).toMatchObject({ status: 403 })
  })

  test('whoever asks too often is told when to come back, and others are not kept from asking', async () => {
    const busy = new Client(house.url, { token: await house.token() })
    const calm = new Client(house.url, { token: await house.token() })
    const answers = await Promise.all(Array.from({ length: 80 }, () => busy.look('agent3')))
    const late = answers.filter(({ status }) => status === 429)
    expect(late.length).toBeGreaterThan(0)
    for (const { headers } of late) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await calm.look('agent3')).toMatchObject({ status: 200 })
  })

  test('the metrics are for this computer, and not for whoever comes through a proxy on it', async () => {
    const ask = (headers: Record<string, string>) => fetch(`${house.url}/metrics`, { headers })
    const answer = await ask({})
    expect(answer.status).toBe(200)
    expect(await answer.text()).toContain('agentmux_relay_leases_held 0')
    expect((await ask({ 'x-forwarded-for': '203.0.113.7' })).status).toBe(403)
    expect((await ask({ forwarded: 'for=203.0.113.7' })).status).toBe(403)
  })

  test('no token, message or body is in the log, whatever is asked', async () => {
    const token = await house.token()
    const client = new Client(house.url, { token })
    await client.claim('agent3')
    await client.inject('agent3', 'the secret of the message')
    await client.ask('POST', '/agents/lease', { body: `{"secret of the body` })
    await client.ask('GET', `/agents/lease/x?token=${token}`)
    await house.store.close()
    expect(await client.claim('agent3')).toMatchObject({ status: 503 })
    expect(house.logged()).toContain('store-unavailable')
    expect(house.logged()).not.toContain(token)
    expect(house.logged()).not.toContain('secret of the')
  })
})
