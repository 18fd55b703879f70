import { describe, expect, it } from 'vitest'
import { MAX_BATCH } from '../src/index.js'
import { BARN, type Scene, scene } from './scene.js'
import { json, type Script, until } from './scripted-relay.js'

const BATCH = '/agents/lease/renew-batch'
const granting: Script = (asked, response) =>
  asked.path === BATCH
    ? json(response, 200, {
        results: asked.body.agents.map((agent_id: string) => ({ agent_id, ok: true, epoch: 1 }))
      })
    : json(response, 200, { ok: true, epoch: 1 })

async function holding(agents: readonly string[], options = {}): Promise<Scene> {
  const made = await scene(granting, options)
  const agent = { held: true, epoch: 1, confirmedAgoMs: 20_000, maybeHeldForMs: 0 }
  made.client.restore({
    ...made.client.snapshot(),
    agents: agents.map((name) => ({ agent: name, ...agent }))
  })
  return made
}

const rows = (script: (agents: string[]) => unknown): Script => {
  return (asked, response) =>
    asked.path === BATCH
      ? json(response, 200, { results: script(asked.body.agents) })
      : json(response, 200, { ok: true, epoch: 9 })
}

describe('one renewal of everything held', () => {
  it.each([1, 100, 1_000])('of %i agents is one request', async (count) => {
    const names = Array.from({ length: count }, (_, index) => `agent-${index}`)
    const { relay, client } = await holding(names)
    const answer = await client.leases.renewHeldBatch()
    expect(answer).toMatchObject({ elsewhere: [], busy: [], unanswered: [] })
    expect([...answer.held].sort()).toEqual([...names].sort())
    expect(relay.asked).toHaveLength(1)
    expect(relay.asked[0]?.body).toMatchObject({ instance: 'mill/stable', agents: names })
  })

  it('of more than a batch is one request for each', async () => {
    const names = Array.from({ length: MAX_BATCH * 2 + 1 }, (_, index) => `agent-${index}`)
    const { relay, client } = await holding(names)
    expect((await client.leases.renewHeldBatch()).held).toHaveLength(names.length)
    expect(relay.asked.map(({ body }) => body.agents.length)).toEqual([MAX_BATCH, MAX_BATCH, 1])
  })

  it('of nothing is none', async () => {
    const { relay, client } = await holding([])
    expect(await client.leases.renewHeldBatch()).toEqual({
      held: [],
      elsewhere: [],
      busy: [],
      unanswered: []
    })
    expect(relay.asked).toHaveLength(0)
  })

  it('gets smaller where the relay finds it too large', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `agent-${index}`)
    const { relay, client } = await holding(names)
    relay.script((asked, response) =>
      asked.path === BATCH && asked.body.agents.length > 3
        ? json(response, 413, {})
        : granting(asked, response)
    )
    expect((await client.leases.renewHeldBatch()).held).toHaveLength(10)
    expect(relay.asked.map(({ body }) => body.agents.length)).toEqual([10, 5, 3, 3, 3, 1])
    await client.leases.renewHeldBatch()
    expect(relay.asked.slice(6).map(({ body }) => body.agents.length)).toEqual([3, 3, 3, 1])
  })

  it('sorts mixed answers: what is left out, doubled or not asked for changes nothing', async () => {
    const { relay, client } = await holding(['a', 'b', 'c', 'd', 'e', 'f'])
    relay.script(
      rows(() => [
        { agent_id: ' A ', ok: true, epoch: 4 },
        { agent_id: 'b', ok: false, error: 'held_by_other', held_by: BARN },
        { agent_id: 'c', ok: false, error: 'held_by_other', held_by: null },
        { agent_id: 'e', ok: true, epoch: 1 },
        { agent_id: 'e', ok: false, error: 'held_by_other', held_by: BARN },
        { agent_id: 'f', ok: false, error: 'internal' },
        { agent_id: 'stranger', ok: false, error: 'held_by_other', held_by: BARN },
        'noise',
        null
      ])
    )
    const answer = await client.leases.renewHeldBatch()
    expect([...answer.held].sort()).toEqual(['a', 'c'])
    expect(answer.elsewhere).toMatchObject([{ agent: 'b', holder: { hostname: 'barn' } }])
    expect(answer.unanswered.map(({ agent }) => agent).sort()).toEqual(['d', 'e', 'f'])
    expect(client.leases.held().sort()).toEqual(['a', 'c', 'd', 'e', 'f'])
    expect(client.leases.heldElsewhere('stranger')).toBeUndefined()
    expect(
      relay.asked.map(({ path, body }) => [path, body.agent_id]).slice(1),
      'c had lapsed and is claimed again'
    ).toEqual([['/agents/lease', 'c']])
  })

  it('claims nothing again that nobody here wants any more', async () => {
    const { relay, client } = await holding(['c'], { isSubscribed: () => false })
    relay.script(rows(() => [{ agent_id: 'c', ok: false, error: 'held_by_other', held_by: null }]))
    expect(await client.leases.renewHeldBatch()).toEqual({
      held: [],
      elsewhere: [],
      busy: [],
      unanswered: []
    })
    expect(relay.asked).toHaveLength(1)
    expect(client.leases.isHeld('c')).toBe(false)
  })

  it('leaves out an agent that is busy', async () => {
    let go = () => {}
    const { relay, client } = await holding(['a', 'b'])
    relay.script(async (asked, response) => {
      if (asked.path !== BATCH) {
        await new Promise<void>((resolve) => {
          go = resolve
        })
      }
      granting(asked, response)
    })
    const releasing = client.leases.release('a')
    await until(() => relay.asked.length === 1)
    expect(await client.leases.renewHeldBatch({ agents: ['a', 'b', 'B'] })).toMatchObject({
      held: ['b'],
      busy: ['a']
    })
    expect(relay.asked[1]?.body.agents).toEqual(['b'])
    go()
    await releasing
  })

  it('ignores what it hears of an agent that changed meanwhile', async () => {
    let go = () => {}
    const { relay, client } = await holding(['released', 'taken', 'elsewhere', 'quiet'])
    relay.script(async (asked, response) => {
      if (asked.path !== BATCH) return granting(asked, response)
      await new Promise<void>((resolve) => {
        go = resolve
      })
      const results = asked.body.agents.map((agent_id: string) =>
        agent_id === 'elsewhere'
          ? { agent_id, ok: true, epoch: 1 }
          : { agent_id, ok: false, error: 'held_by_other', held_by: BARN }
      )
      json(response, 200, { results })
    })
    const renewing = client.leases.renewHeldBatch()
    await until(() => relay.asked.length === 1)
    await client.leases.release('released')
    await client.leases.takeOver('taken')
    const holder = {
      place: 'relay',
      hostname: 'attic',
      channel: '',
      version: '',
      pid: 0,
      acquiredAtMs: 0,
      epoch: 0,
      blockId: ''
    } as const
    client.leases.noteNotHolderSince('elsewhere', client.leases.mark(), holder)
    go()
    expect(await renewing).toMatchObject({ held: [], elsewhere: [{ agent: 'quiet' }], unanswered: [] })
    expect(client.leases.heldElsewhere('released')).toBeUndefined()
    expect(client.leases.isHeld('taken')).toBe(true)
    expect(client.leases.heldElsewhere('elsewhere')).toMatchObject({ hostname: 'attic' })
  })

  it('is one by one where each agent has a token of its own', async () => {
    const { relay, client } = await holding(['a', 'b'], { token: (agent: string) => `token-of-${agent}` })
    relay.script((asked, response) => {
      const agents: string[] = asked.body.agents ?? [asked.body.agent_id]
      const own = agents.every((agent) => asked.headers.authorization === `Bearer token-of-${agent}`)
      json(response, own ? 200 : 403, { ok: true, epoch: 2 })
    })
    expect([...(await client.leases.renewHeldBatch()).held].sort()).toEqual(['a', 'b'])
  })

  it('does not ask a silent relay agent by agent', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `agent-${index}`)
    const { relay, client } = await holding(names)
    relay.script((asked, response) => json(response, asked.path === BATCH ? 404 : 503, {}))
    const answer = await client.leases.renewHeldBatch()
    expect(answer.unanswered).toHaveLength(50)
    expect(relay.asked.length).toBeLessThan(10)
    expect(client.leases.held()).toHaveLength(50)
  })

  it('takes a batch answer of a thousand long rows, and no more than that', async () => {
    const { relay, client } = await holding(['a'])
    relay.script(rows(() => [{ agent_id: 'a', ok: true, epoch: 1, note: 'x'.repeat(60_000) }]))
    expect((await client.leases.renewHeldBatch()).held).toEqual(['a'])
    relay.script(rows(() => [{ agent_id: 'a', ok: true, epoch: 1, note: 'x'.repeat(70_000) }]))
    expect((await client.leases.renewHeldBatch()).unanswered).toEqual([{ agent: 'a', why: 'too-large' }])
  })
})
