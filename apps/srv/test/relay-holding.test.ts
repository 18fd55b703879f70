/** An agent that the relay knows: refused, given up, let go and taken by its word, and by nothing else (R4, R5, R7). */
import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { bodyOf, metric, recordOf } from './harness/http-reading.js'
import { lives } from './harness/processes.js'
import { heldAtRelay, paneOf, relayTest as test } from './harness/relay-house.js'
import { type Answering, BARN, json } from './harness/scripted-relay.js'
import { until } from './harness/until.js'

describe.concurrent('an agent that another computer has', () => {
  test('is refused before anything is started or written, and the computer is named', async ({
    scene,
    relay,
    openHouse
  }) => {
    relay.leases.set('agent3', BARN)
    const house = await openHouse()
    const { status, body } = await house.client.post('/api/v1/agents', house.opening())
    expect(status).toBe(409)
    expect(body).toContain('another computer, according to the relay (host barn, channel nightly, v0.44.1')
    expect(body).not.toContain('--wait')
    expect(scene.exists(scene.leaseFile())).toBe(false)
    expect(relay.leases.get('agent3')).toEqual(BARN)
    expect(await metric(house, 'agentmux_lease_denied_total{tier="relay"}')).toBe(1)
    const asked = await house.client.get('/api/v1/relay/holder?agent=Agent3')
    expect(bodyOf(asked)).toMatchObject({ kind: 'other', holder: { hostname: 'barn', channel: 'nightly' } })
  })

  test('is given up while it runs: its child ends, nothing is appended, and the computer is named', async ({
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    const pane = await house.openPane()
    await heldAtRelay(relay, 'agent3')
    relay.leases.set('agent3', BARN)
    const lost = await until('the pane is superseded', async () => {
      const now = await paneOf(house, pane.blockId)
      return now.state === 'superseded' && now.ended_at_ms !== undefined ? now : undefined
    })
    expect(lives(pane.pid)).toBe(false)
    expect(lost.refusal).toMatchObject({ kind: 'lost', holder: { hostname: 'barn', place: 'relay' } })
    expect(lost.refusal.message).toContain('according to the relay (host barn')
    const record = await recordOf(house, pane.blockId)
    const sent = await house.client.post(`/api/v1/agents/${pane.blockId}/turns`, { text: 'still there?' })
    expect(sent.status).toBe(409)
    expect(await recordOf(house, pane.blockId)).toEqual(record)
    expect(await metric(house, 'agentmux_lease_fenced_total{tier="relay"}')).toBe(1)
    // It was not ours to let go there.
    expect(relay.leases.get('agent3')).toEqual(BARN)
    expect(relay.paths(/lease\/(take|release)$/)).toEqual([])
  })

  test('is given up in every pane that has the name, the older one too', async ({ relay, openHouse }) => {
    const house = await openHouse()
    const panes = [await house.openPane({ uid: 'first' }), await house.openPane({ uid: 'second' })]
    await heldAtRelay(relay, 'agent3')
    relay.leases.set('agent3', BARN)
    await until('both have ended', () => panes.every(({ pid }) => !lives(pid)))
    for (const { blockId } of panes) expect((await paneOf(house, blockId)).state).toBe('superseded')
  })
})

/** Each until it has been seen often enough that something could have happened. */
const NO_WORD: Readonly<Record<string, { answering: Answering; enough: (paths: string[]) => boolean }>> = {
  silence: { answering: () => true, enough: (paths) => count(paths, /lease/) > 2 },
  'a 500': {
    answering: (_, response) => json(response, 500, {}),
    enough: (paths) => count(paths, /lease/) > 3
  },
  'a page of HTML': {
    answering: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>')
      return true
    },
    enough: (paths) => count(paths, /lease/) > 3
  },
  'a 404 for everything': {
    answering: (_, response) => json(response, 404, {}),
    enough: (paths) => paths.includes('/agents/lease') && count(paths, /lease\//) > 0
  },
  'a 401, as for a token that has run out': {
    answering: (_, response) => json(response, 401, { error: 'token expired' }),
    enough: (paths) => count(paths, /lease/) > 3
  },
  'a 409 without JSON': {
    answering: (_, response) => {
      response.writeHead(409).end('conflict')
      return true
    },
    enough: (paths) => count(paths, /lease/) > 3
  }
}

describe.concurrent('a relay whose word is not known stops nothing:', () => {
  for (const [what, { answering, enough }] of Object.entries(NO_WORD)) {
    test(what, async ({ relay, openHouse }) => {
      relay.answering(answering)
      const house = await openHouse()
      const pane = await house.openPane()
      await until('it was asked often enough', () => enough(relay.asked.map(({ path }) => path)))
      expect(await paneOf(house, pane.blockId)).toMatchObject({ state: 'running' })
      expect(lives(pane.pid)).toBe(true)
      const { status } = await house.client.post(`/api/v1/agents/${pane.blockId}/turns`, { text: 'go on' })
      expect(status).toBe(200)
      expect(await metric(house, 'agentmux_lease_fenced_total{tier="relay"}')).toBe(0)
      expect(await house.logged()).toContain('"event":"relay-trouble"')
    })
  }

  test('nobody listens there; once somebody does, what runs is held', async ({ relay, openHouse }) => {
    await relay.close()
    const house = await openHouse()
    const pane = await house.openPane()
    await until('the log says so', async () => (await house.logged()).includes('"why":"unreachable"'))
    await relay.listen()
    await heldAtRelay(relay, 'agent3')
    expect(lives(pane.pid)).toBe(true)
    await until('the log says that it is over', async () => (await house.logged()).includes('relay-answers'))
  })
})

describe.concurrent('what is driven here', () => {
  test('is renewed in one request, whatever its number, and let go when its pane has ended', async ({
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    const names = ['Ada', 'Bob', 'Cyd']
    const panes = await Promise.all(names.map((agent) => house.openPane({ uid: `uid-${agent}`, agent })))
    await Promise.all(names.map((name) => heldAtRelay(relay, name.toLowerCase())))
    const batch = await until('they are renewed', () =>
      relay.paths(/renew-batch$/).find(({ body }) => body.agents.length > 1)
    )
    expect([...batch.body.agents].sort()).toEqual(['ada', 'bob', 'cyd'])
    expect(relay.paths(/lease\/renew$/)).toEqual([])
    const { held } = bodyOf(await house.client.get('/api/v1/relay'))
    expect(held.sort()).toEqual(['ada', 'bob', 'cyd'])
    await house.client.post(`/api/v1/agents/${panes[0]?.blockId}/close`, {})
    await until('it is let go', () => !relay.leases.has('ada'))
    expect([...relay.leases.keys()].sort()).toEqual(['bob', 'cyd'])
  })

  test('stays held while another pane has its name, and while a process of it is left', async ({
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    const [one, two] = [await house.openPane({ uid: 'one' }), await house.openPane({ uid: 'two' })]
    await heldAtRelay(relay, 'agent3')
    await house.client.post(`/api/v1/agents/${one.blockId}/close`, {})
    expect(relay.paths(/lease\/release$/)).toEqual([])
    await house.client.post(`/api/v1/agents/${two.blockId}/close`, {})
    await until('it is let go', () => !relay.leases.has('agent3'))
    expect(lives(two.pid)).toBe(false)
  })

  test('without a name is not told to the relay', async ({ relay, openHouse }) => {
    const house = await openHouse()
    await house.openPane({ agent: undefined })
    await house.openPane({ uid: 'named', agent: 'Ada' })
    await heldAtRelay(relay, 'ada')
    expect([...relay.leases.keys()]).toEqual(['ada'])
  })

  test('is let go there before a hand-over is answered, whatever name the asker knows', async ({
    scene,
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    await house.openPane({ agent: 'Ada' })
    await heldAtRelay(relay, 'ada')
    const asked = { uid: scene.uid, requested_by_channel: 'beta', requested_by_version: '1.0.0' }
    expect(bodyOf(await house.client.post('/agentmux/agent/release', asked))).toEqual({
      ok: true,
      released: 1
    })
    expect(relay.leases.has('ada')).toBe(false)
  })

  test('is let go at the end of the daemon', async ({ relay, openHouse }) => {
    const house = await openHouse()
    await house.openPane()
    await heldAtRelay(relay, 'agent3')
    await house.panes.closeAll({ graceMs: 0 })
    await house.daemon.relay?.close()
    expect(relay.leases.size).toBe(0)
  })

  test('does not keep the end of the daemon from coming when the relay is silent', async ({
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    await house.openPane()
    await heldAtRelay(relay, 'agent3')
    relay.answering(() => true)
    await house.panes.closeAll({ graceMs: 0 })
    await house.daemon.relay?.close()
    expect(relay.leases.size).toBe(1)
  })
})

describe.concurrent('a take-over', () => {
  const TAKE_OVER = '/api/v1/agent/takeover'

  test('does not move an agent from another computer, where it runs', async ({ scene, relay, openHouse }) => {
    const house = await openHouse()
    const pane = await house.openPane()
    await house.client.post(`/api/v1/agents/${pane.blockId}/close`, {})
    await until('it is let go', () => relay.leases.size === 0 && relay.paths(/release$/).length > 0)
    relay.leases.set('agent3', BARN)
    const refused = await house.client.post(TAKE_OVER, { block_id: pane.blockId })
    expect(refused.status).toBe(409)
    expect(bodyOf(refused).error).toContain('according to the relay (host barn')
    const asked = { uid: scene.uid, agent: 'Agent3', from_channel: 'nightly' }
    expect((await house.client.post('/api/v1/relay/take-over', asked)).status).toBe(409)
    expect(relay.paths(/lease\/take$/)).toEqual([])
    expect(relay.leases.get('agent3')).toEqual(BARN)
    // Nothing is reserved: once it is free there, it can be opened here.
    relay.leases.clear()
    expect((await house.client.post(TAKE_OVER, { block_id: pane.blockId })).status).toBe(200)
    await heldAtRelay(relay, 'agent3')
  })

  test('goes through when the relay is silent, and a refusal from before it does not count', async ({
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    const pane = await house.openPane()
    await heldAtRelay(relay, 'agent3')
    relay.leases.set('agent3', BARN)
    await until('it is given up', async () => (await paneOf(house, pane.blockId)).ended_at_ms !== undefined)
    // Now free there, as it says, but it was refused a moment ago.
    relay.leases.clear()
    const taken = await house.client.post(TAKE_OVER, { block_id: pane.blockId })
    expect(taken.status).toBe(200)
    expect(await paneOf(house, pane.blockId)).toMatchObject({ state: 'running' })
    await heldAtRelay(relay, 'agent3')
  })

  test('by the command line is kept at the relay until a pane of the daemon drives it', async ({
    scene,
    relay,
    openHouse
  }) => {
    const house = await openHouse()
    const asked = { uid: scene.uid, agent: 'Agent3' }
    expect(bodyOf(await house.client.post('/api/v1/relay/take-over', asked))).toEqual({
      ok: true,
      relay: 'held'
    })
    const ticks = relay.paths(/renew-batch$/).length
    await until('a tick has passed', () => relay.paths(/renew-batch$/).length > ticks)
    expect(relay.leases.get('agent3')?.install).toBe(relay.setting().install)
    await until('it is let go, since nobody came', () => !relay.leases.has('agent3'))
  })
})

describe.concurrent('the token', () => {
  test('is in no answer, no metric, no record and no line of the log (R16)', async ({
    relay,
    openHouse,
    scene
  }) => {
    let status = 200
    relay.answering((_, response) => status !== 200 && json(response, status, { error: 'no' }))
    const house = await openHouse()
    const pane = await house.openPane()
    await heldAtRelay(relay, 'agent3')
    for (status of [401, 500]) {
      await house.client.get('/api/v1/relay/holder?agent=bob')
      await house.client.post('/api/v1/relay/take-over', { uid: scene.uid, agent: 'Cyd' })
    }
    await house.client.get('/api/v1/relay')
    await house.client.get('/metrics')
    await recordOf(house, pane.blockId)
    const shown = [...house.client.answers, await house.logged(), environmentOf(pane.pid)].join('\n')
    const [authorization] = relay.asked.map(({ headers }) => headers.authorization)
    const token = authorization?.replace('Bearer ', '') ?? ''
    expect(token.length).toBeGreaterThan(8)
    expect(shown).not.toContain(token)
  })
})

function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8')
}

function count(paths: readonly string[], pattern: RegExp): number {
  return paths.filter((path) => pattern.test(path)).length
}
