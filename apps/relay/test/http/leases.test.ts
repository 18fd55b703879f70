/** The lease routes as PROTOCOL words them. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../harness/client.js'
import { type House, openHouse } from '../harness/house.js'

describe('the lease routes', () => {
  let house: House
  let anna: Client
  let ben: Client
  beforeEach(async () => {
    house = await openHouse()
    const token = await house.token()
    anna = new Client(house.url, { token })
    ben = new Client(house.url, { token, instance: 'barn/beta', install: 'install-b', version: '2.0.0' })
  })
  afterEach(() => house.close())

  test('a claim is granted, repeated with the same epoch, and refused to others with the holder’s names', async () => {
    const before = Date.now()
    expect(await anna.claim('Agent3')).toMatchObject({ status: 200, json: { ok: true, epoch: 1 } })
    expect(await anna.claim('Agent3')).toMatchObject({ status: 200, json: { ok: true, epoch: 1 } })
    const refused = await ben.claim('Agent3')
    expect(refused.status).toBe(409)
    const { acquired_at, ...named } = refused.json.held_by
    expect({ ...refused.json, held_by: named }).toEqual({
      error: 'held_by_other',
      held_by: { host: 'mill', channel: 'stable', version: '1.0.0' }
    })
    expect(acquired_at).toBeGreaterThanOrEqual(before)
    expect(acquired_at).toBeLessThanOrEqual(Date.now())
  })

  test('renew: 200 to the holder, 409 with the holder to others, 409 with null where nobody holds it', async () => {
    await anna.claim('agent3')
    expect(await anna.renew('agent3')).toMatchObject({ status: 200, json: { ok: true, epoch: 1 } })
    expect(await ben.renew('agent3')).toMatchObject({
      status: 409,
      json: { error: 'held_by_other', held_by: { host: 'mill' } }
    })
    expect(await ben.renew('agent4')).toMatchObject({
      status: 409,
      json: { error: 'not_holder', held_by: null }
    })
  })

  test('release: 200 whoever asks, and only the holder’s counts', async () => {
    await anna.claim('agent3')
    expect(await ben.release('agent3')).toMatchObject({ status: 200 })
    expect(await anna.look('agent3')).toMatchObject({ json: { state: 'yours' } })
    expect(await anna.release('agent3')).toMatchObject({ status: 200, json: { ok: true } })
    expect((await anna.look('agent3')).json).toEqual({ state: 'free' })
    expect(await ben.claim('agent3')).toMatchObject({ status: 200, json: { epoch: 2 } })
  })

  test('take: the next epoch from a live holder; 409 where there is none; the same again to the same call', async () => {
    expect(await ben.take('agent3')).toMatchObject({ status: 409, json: { held_by: null } })
    await anna.claim('agent3')
    expect(await ben.take('agent3', 'call-1')).toMatchObject({ status: 200, json: { ok: true, epoch: 2 } })
    expect(await ben.take('agent3', 'call-1')).toMatchObject({ status: 200, json: { ok: true, epoch: 2 } })
    expect(await anna.take('agent3', 'call-2')).toMatchObject({ status: 200, json: { epoch: 3 } })
    expect(await ben.take('agent3', 'call-1')).toMatchObject({ status: 409 })
  })

  test('look: free, yours, other; it never claims', async () => {
    expect((await ben.look('agent3')).json).toEqual({ state: 'free' })
    await anna.claim('agent3')
    expect((await anna.look('agent3')).json).toMatchObject({ state: 'yours', held_by: { host: 'mill' } })
    expect((await ben.look('agent3')).json).toMatchObject({ state: 'other', held_by: { host: 'mill' } })
  })

  test('names are trimmed and compared in lower case, and may hold anything else', async () => {
    await anna.claim('  Agent3 ')
    expect(await ben.claim('AGENT3')).toMatchObject({ status: 409 })
    for (const name of ['ag/ent ü%2f?#', '日本'.repeat(64), 'a'.repeat(256)]) {
      expect(await anna.claim(name)).toMatchObject({ status: 200, json: { epoch: 1 } })
      expect((await ben.look(name)).json).toMatchObject({ state: 'other' })
      expect((await anna.look(name.toUpperCase())).json).toMatchObject({ state: 'yours' })
    }
    for (const name of ['', '   ', 'a'.repeat(257), 'a\nb']) {
      expect(await anna.claim(name)).toMatchObject({ status: 400 })
    }
  })

  test('another install of the same name is another holder, in the body and in the header', async () => {
    await anna.claim('agent3')
    const token = await house.token()
    const twin = new Client(house.url, { token, install: 'install-of-the-twin' })
    expect(await twin.claim('agent3')).toMatchObject({ status: 409 })
    expect((await twin.look('agent3')).json).toMatchObject({ state: 'other' })
    const older = new Client(house.url, { token, install: '' })
    expect(await older.claim('agent3')).toMatchObject({ status: 409 })
    expect(await older.claim('agent4')).toMatchObject({ status: 200 })
    expect(await older.renew('agent4')).toMatchObject({ status: 200 })
    expect(await older.pending('agent4')).toMatchObject({ status: 200 })
  })

  test('a batch answers each agent once, held, held elsewhere and by nobody, and leaves out what is no name', async () => {
    await anna.claim('agent3')
    await ben.claim('agent4')
    const { status, json } = await anna.renewAll([
      ' Agent3',
      'agent4',
      'agent5',
      'AGENT3',
      '',
      'x'.repeat(300)
    ])
    expect(status).toBe(200)
    expect(json).toMatchObject({
      results: [
        { agent_id: ' Agent3', ok: true, epoch: 1 },
        { agent_id: 'agent4', ok: false, error: 'held_by_other', held_by: { host: 'barn' } },
        { agent_id: 'agent5', ok: false, error: 'not_holder', held_by: null }
      ]
    })
    expect(json.results).toHaveLength(3)
  })

  test('what an instance says of itself is fit for another’s terminal', async () => {
    const body = { ...anna.body, host: '  MILL\u001b[2J\u0007 ', channel: 'x'.repeat(1_000), version: null }
    await anna.post('/agents/lease', { agent_id: 'agent3', ...body })
    const { held_by } = (await ben.claim('agent3')).json
    expect(held_by.host).toBe('mill')
    expect(held_by.channel).toHaveLength(64)
    expect(held_by.version).toBe('')
  })

  test('a body that is none is 400 and names the field, never what it held', async () => {
    expect(await anna.post('/agents/lease', { ...anna.body })).toMatchObject({
      status: 400,
      json: { error: 'agent_id required' }
    })
    expect(await anna.post('/agents/lease', { agent_id: 'a', instance: '' })).toMatchObject({
      status: 400,
      json: { error: 'instance is invalid' }
    })
    expect(await anna.post('/agents/lease', 'x')).toMatchObject({ status: 400 })
    expect(await anna.ask('POST', '/agents/lease', { body: '{"a' })).toMatchObject({ status: 400 })
    expect(await anna.ask('GET', '/agents/lease')).toMatchObject({ status: 404 })
  })

  test('one audit line for each change of holder names both sides', async () => {
    await anna.claim('agent3')
    await anna.claim('agent3')
    await anna.renew('agent3')
    await ben.take('agent3')
    await ben.release('agent3')
    const lines = house
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event === 'holder')
    expect(lines.map(({ because }) => because)).toEqual(['claimed', 'taken', 'released'])
    expect(lines[0]).toMatchObject({
      account: 'acme',
      agent: 'agent3',
      from: null,
      to: { instance: 'mill/stable' }
    })
    expect(lines[1]).toMatchObject({
      from: { instance: 'mill/stable', epoch: 1 },
      to: { instance: 'barn/beta', install: 'install-b', epoch: 2 }
    })
    expect(lines[2]).toMatchObject({ from: { instance: 'barn/beta' }, to: null })
  })
})
