import { describe, expect, it, onTestFinished } from 'vitest'
import { RelayTick } from '../src/index.js'
import { BARN, type Scene, scene } from './scene.js'
import { json, type Script, until } from './scripted-relay.js'

const BATCH = '/agents/lease/renew-batch'
const granting: Script = (asked, response) =>
  asked.path === BATCH
    ? json(response, 200, {
        results: asked.body.agents.map((agent_id: string) => ({ agent_id, ok: true, epoch: 1 }))
      })
    : json(response, 200, { ok: true, epoch: 1 })

async function ticking(script: Script, live: Set<string>, options = {}) {
  const made: Scene = await scene(script, { isSubscribed: (agent) => live.has(agent), ...options })
  const elsewhere: [string, string][] = []
  const faults: unknown[] = []
  const tick = new RelayTick({
    client: made.client,
    liveAgents: () => live,
    onHeldElsewhere: (agent, holder) => elsewhere.push([agent, holder.hostname]),
    onFault: (fault) => faults.push(fault)
  })
  onTestFinished(() => tick.stop())
  const paths = () => made.relay.asked.map(({ path }) => path)
  return { ...made, tick, elsewhere, faults, paths }
}

describe('a tick', () => {
  it('claims what is driven and not held, then renews all of it in one request every 20 s', async () => {
    const live = new Set(['a', 'b', 'c'])
    const { clock, tick, paths, client } = await ticking(granting, live)
    tick.start()
    await clock.advance(0)
    await until(() => client.leases.held().length === 3)
    await tick.idle()
    const claims = paths().length
    for (let round = 1; round <= 3; round++) {
      await clock.advance(20_000)
      await until(() => paths().length === claims + round)
      await tick.idle()
    }
    expect(paths()).toEqual([...Array(3).fill('/agents/lease'), ...Array(3).fill(BATCH)])
  })

  it('begins anywhere in the interval', async () => {
    const { clock, tick, relay } = await ticking(granting, new Set(['a']), { random: () => 0.5 })
    tick.start()
    await clock.advance(9_999)
    expect(relay.asked).toHaveLength(0)
    await clock.advance(1)
    await until(() => relay.asked.length === 1)
  })

  it('lets go of what no pane drives any more, instead of renewing it', async () => {
    const live = new Set(['a', 'b'])
    const { tick, relay, client } = await ticking(granting, live)
    await tick.run()
    live.delete('a')
    const before = relay.asked.length
    await tick.run()
    const asked = relay.asked.slice(before)
    expect(asked.find(({ path }) => path === BATCH)?.body.agents).toEqual(['b'])
    expect(asked.find(({ path }) => path.endsWith('/release'))?.body.agent_id).toBe('a')
    expect(client.leases.held()).toEqual(['b'])
  })

  it('tells who is held elsewhere, whether it was held or claimed', async () => {
    const live = new Set(['held'])
    const { tick, relay, elsewhere } = await ticking(granting, live)
    await tick.run()
    live.add('fresh')
    relay.script((asked, response) =>
      asked.path === BATCH
        ? json(response, 200, {
            results: [{ agent_id: 'held', ok: false, error: 'held_by_other', held_by: BARN }]
          })
        : json(response, 409, { error: 'held_by_other', held_by: BARN })
    )
    await tick.run()
    expect(elsewhere).toEqual([
      ['held', 'barn'],
      ['fresh', 'barn']
    ])
  })

  it('does nothing to anybody while the relay is down, and asks it little', async () => {
    const live = new Set(Array.from({ length: 200 }, (_, index) => `agent-${index}`))
    const { tick, relay, client, elsewhere } = await ticking(granting, live)
    await tick.run()
    expect(client.leases.held()).toHaveLength(200)
    relay.script((_, response) => json(response, 503, {}))
    const before = relay.asked.length
    for (let round = 0; round < 15; round++) await tick.run()
    expect(relay.asked.length - before).toBe(15)
    expect(client.leases.held()).toHaveLength(200)
    expect(elsewhere).toEqual([])
    relay.script(granting)
    await tick.run()
    expect(relay.asked.at(-1)?.path).toBe(BATCH)
  })

  it('waits out a pause, and comes right after it', async () => {
    const { clock, tick, relay, client } = await ticking(granting, new Set(['a']))
    tick.start()
    await clock.advance(0)
    await until(() => client.leases.isHeld('a'))
    await tick.idle()
    relay.script((_, response) => json(response, 503, {}, { 'retry-after': '35' }))
    await clock.advance(20_000)
    await until(() => client.pausedForMs() > 0)
    await tick.idle()
    const before = relay.asked.length
    relay.script(granting)
    await clock.advance(34_999)
    expect(relay.asked).toHaveLength(before)
    await clock.advance(1)
    await until(() => relay.asked.length === before + 1)
    expect(client.leases.isHeld('a')).toBe(true)
  })

  it('survives a fault of the app, and ends with it', async () => {
    const { tick, client, faults, clock } = await ticking(granting, new Set(['a']))
    const broken = new RelayTick({
      client,
      liveAgents: () => {
        throw new Error('no list')
      },
      onHeldElsewhere: () => {},
      onFault: (fault) => faults.push(fault)
    })
    await broken.run()
    expect(faults).toHaveLength(1)
    tick.start()
    await tick.stop()
    expect(clock.pendingTimers).toBe(0)
    await tick.run()
    expect(client.leases.held()).toEqual([])
  })

  it('lets go of everything at the end', async () => {
    const live = new Set(['a', 'b', 'c'])
    const { tick, relay, client } = await ticking(granting, live)
    await tick.run()
    await tick.stop()
    live.clear()
    await tick.releaseAll()
    expect(relay.asked.filter(({ path }) => path.endsWith('/release'))).toHaveLength(3)
    expect(client.leases.unreleased()).toEqual([])
  })
})
