/** What other instances, panes and other computers get to know of the agents that run here, each with its own key. */
import { createHash } from 'node:crypto'
import { InstanceClient, InstanceEndpoint } from '@agentmux/host-admission'
import { createSystemClock } from '@agentmux/lease-model'
import { describe, expect } from 'vitest'
import { FULL_KEY, type HttpHouse, houseTest, LAN_KEY, VERSION } from './harness/http-house.js'
import { bodyOf } from './harness/http-reading.js'

const REACTIVE = '/agentmux/reactive'

/** As another instance asks. */
function neighbour(house: HttpHouse, authKey = FULL_KEY) {
  const endpoint = InstanceEndpoint.at(`http://127.0.0.1:${house.port}`, {
    authKey,
    pid: 0,
    channel: 'stable'
  })
  if (endpoint === undefined) throw new Error('no endpoint')
  return { client: new InstanceClient({ clock: createSystemClock() }), endpoint }
}

describe('the agents that run here', () => {
  houseTest('are told to another instance, in the words of the protocol', async ({ scene, openHouse }) => {
    const house = await openHouse()
    const { blockId } = await house.openPane()
    const [item] = bodyOf(await house.client.get(`${REACTIVE}/agents`))
    expect(item).toEqual({
      agent_id: 'Agent3',
      block_id: blockId,
      uid: scene.uid,
      registered_at: expect.any(Number),
      last_seen: expect.any(Number),
      registration_nonce: expect.any(Number)
    })
    const { client, endpoint } = neighbour(house)
    expect(await client.registrations(endpoint)).toEqual({
      kind: 'registrations',
      registrations: [{ uid: scene.uid, agentName: 'Agent3', blockId, registeredAtMs: item.registered_at }]
    })
    const wrong = neighbour(house, 'wrong')
    expect(await wrong.client.registrations(wrong.endpoint)).toEqual({ kind: 'unauthorized' })
  })

  houseTest('are said to be held, by the hash of the claim, or not', async ({ scene, openHouse }) => {
    const house = await openHouse()
    await house.openPane()
    const { claim_id, acquired_at_ms, hostname } = scene.lease()
    const claim = createHash('sha256').update(claim_id).digest('hex')
    const held = { held: true, hostname, channel: 'stable', version: VERSION, acquired_at_ms, claim }
    const free = { held: false, hostname, channel: '', version: '', acquired_at_ms: 0 }
    const ask = (uid: string, key?: string) =>
      house.client.get(`/agentmux/agent/holding?uid=${encodeURIComponent(uid)}`, key)
    expect(bodyOf(await ask(scene.uid))).toEqual(held)
    expect(bodyOf(await ask(` ${scene.uid.toUpperCase()} `, LAN_KEY))).toEqual(held)
    expect(bodyOf(await ask('another'))).toEqual(free)
    expect(await ask(' ')).toMatchObject({ status: 400, body: '{"error":"uid required"}' })
    const many = await house.client.post(
      '/agentmux/agent/holdings',
      { uids: [scene.uid, 'x', '__proto__'] },
      LAN_KEY
    )
    expect(Object.entries(bodyOf(many).holdings)).toEqual([
      [scene.uid, held],
      ['x', free],
      ['__proto__', free]
    ])
    const uids = Array.from({ length: 1_001 }, (_, index) => `agent-${index}`)
    expect((await house.client.post('/agentmux/agent/holdings', { uids: uids.slice(1) })).status).toBe(200)
    expect(await house.client.post('/agentmux/agent/holdings', { uids })).toMatchObject({
      status: 400,
      body: '{"error":"uids is too large"}'
    })
  })

  houseTest(
    'are found by name, without their UID where another computer asks',
    async ({ scene, openHouse }) => {
      const house = await openHouse()
      const { blockId } = await house.openPane()
      const ask = (id: string, key?: string) => house.client.get(`${REACTIVE}/agent?id=${id}`, key)
      expect(bodyOf(await ask('agent3'))).toMatchObject({
        agent_id: 'Agent3',
        block_id: blockId,
        uid: scene.uid
      })
      const fromLan = await ask('Agent3', LAN_KEY)
      expect(bodyOf(fromLan)).toMatchObject({ agent_id: 'Agent3', block_id: blockId })
      expect(fromLan.body).not.toContain(scene.uid)
      expect(await ask('nobody', LAN_KEY)).toMatchObject({ status: 404, body: '{"error":"agent not found"}' })
      expect(bodyOf(await house.client.get(`${REACTIVE}/agent-names`, LAN_KEY))).toEqual({
        agents: ['Agent3']
      })
    }
  )
})

describe('a pane, with its own key', () => {
  houseTest('registers names for itself, and takes them back', async ({ scene, openHouse }) => {
    const house = await openHouse()
    const { blockId, key } = await house.openPane()
    const registered = { agent_id: 'Second Name', block_id: blockId, tab_id: 'tab-1' }
    expect(await house.client.post(`${REACTIVE}/register`, registered, key)).toMatchObject({
      status: 200,
      body: '{"success":true}'
    })
    expect(bodyOf(await house.client.get(`${REACTIVE}/agents`, key))).toMatchObject([
      { agent_id: 'Agent3' },
      { ...registered, uid: scene.uid }
    ])
    // Without a block it means its own.
    const withdrawn = await house.client.post(`${REACTIVE}/unregister`, { agent_id: 'second name' }, key)
    expect(withdrawn).toMatchObject({ status: 200, body: '{"success":true}' })
    expect(bodyOf(await house.client.get(`${REACTIVE}/agent-names`, key))).toEqual({ agents: ['Agent3'] })
  })

  houseTest('keeps the name that it was opened with as long as it runs', async ({ scene, openHouse }) => {
    const house = await openHouse()
    const { blockId, key } = await house.openPane()
    const names = async () => bodyOf(await house.client.get(`${REACTIVE}/agent-names`)).agents
    for (const body of [{ agent_id: ' AGENT3' }, { agent_id: 'Agent3', block_id: blockId }]) {
      expect(await house.client.post(`${REACTIVE}/unregister`, body, key)).toMatchObject({
        status: 403,
        body: '{"error":"a pane keeps the name that it was opened with","success":false}'
      })
    }
    // Nor is it pushed out by others, nor made one of them.
    for (let index = 0; index < 20; index++) {
      const body = { agent_id: `name-${index}`, block_id: blockId }
      expect((await house.client.post(`${REACTIVE}/register`, body, key)).status).toBe(200)
    }
    await house.client.post(`${REACTIVE}/register`, { agent_id: 'Agent3', block_id: blockId }, key)
    expect((await house.client.post(`${REACTIVE}/unregister`, { agent_id: 'Agent3' }, key)).status).toBe(403)
    expect(await names()).toHaveLength(8)
    expect(await names()).toContain('Agent3')
    const { client, endpoint } = neighbour(house)
    const seen = await client.registrations(endpoint)
    expect(seen.kind === 'registrations' && seen.registrations.map(({ uid }) => uid)).toContain(scene.uid)
    await house.client.post(`/api/v1/agents/${blockId}/close`, {})
    expect(await names()).toEqual([])
  })

  houseTest('speaks for no other pane', async ({ scene, openHouse }) => {
    const house = await openHouse()
    const { blockId } = await house.openPane()
    const { key } = await house.openPane({ uid: `${scene.uid}-2`, agent: 'Other' })
    for (const path of ['register', 'unregister']) {
      const body = { agent_id: 'Agent3', block_id: blockId }
      expect(await house.client.post(`${REACTIVE}/${path}`, body, key), path).toMatchObject({
        status: 403,
        body: '{"error":"this key is of another pane","success":false}'
      })
    }
    await house.client.post(`${REACTIVE}/unregister`, { agent_id: 'Agent3' }, key)
    expect(bodyOf(await house.client.get(`${REACTIVE}/agent-names`))).toEqual({ agents: ['Agent3', 'Other'] })
  })

  houseTest('gets nowhere once it has ended', async ({ openHouse }) => {
    const house = await openHouse()
    const { blockId, key } = await house.openPane()
    expect((await house.client.get(`${REACTIVE}/agents`, key)).status).toBe(200)
    await house.client.post(`/api/v1/agents/${blockId}/close`, {})
    expect(await house.client.get(`${REACTIVE}/agents`, key)).toMatchObject({ status: 401 })
    const late = { agent_id: 'Agent3', block_id: blockId }
    expect(await house.client.post(`${REACTIVE}/register`, late)).toMatchObject({
      status: 404,
      body: '{"error":"no such pane","success":false}'
    })
  })
})
