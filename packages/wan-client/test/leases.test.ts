import { describe, expect, it } from 'vitest'
import { BARN, IDENTITY, scene, TOKEN } from './scene.js'
import { json, type Script, until } from './scripted-relay.js'

const grants: Script = (_, response) => json(response, 200, { ok: true, epoch: 7 })
const held = (response: Parameters<Script>[1]) =>
  json(response, 409, { error: 'held_by_other', held_by: BARN })

describe('a claim', () => {
  it('says who we are, and keeps the lease for 20 s without asking again', async () => {
    const { relay, clock, client } = await scene(grants)
    expect(await client.leases.ensure('  Agent3 ')).toEqual({ kind: 'held', epoch: 7 })
    const [asked] = relay.asked
    expect(asked).toMatchObject({
      method: 'POST',
      path: '/agents/lease',
      body: { agent_id: 'agent3', instance: 'mill/stable', ...IDENTITY },
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'x-agent-id': 'agent3',
        'x-agent-instance': 'mill/stable',
        'x-agent-install': IDENTITY.install
      }
    })
    expect(client.leases.instanceId).toBe('mill/stable')
    expect(client.leases.isHeld('AGENT3')).toBe(true)

    await clock.advance(19_999)
    expect(await client.leases.ensure('agent3')).toEqual({ kind: 'held', epoch: 7 })
    expect(relay.asked).toHaveLength(1)
    await clock.advance(1)
    await client.leases.ensure('agent3')
    expect(relay.asked[1]?.path).toBe('/agents/lease/renew')
  })

  it('that is refused names the holder, for 90 s, and asks again all the same', async () => {
    const { relay, clock, client } = await scene((_, response) => held(response))
    const answer = await client.leases.ensure('agent3')
    expect(answer).toMatchObject({
      kind: 'held-elsewhere',
      holder: { place: 'relay', hostname: 'barn', channel: 'dev', version: '0.44.0' }
    })
    expect(client.leases.heldElsewhere('Agent3')).toMatchObject({ acquiredAtMs: BARN.acquired_at })
    expect(client.leases.heldOnAnotherComputer('agent3')).toBeDefined()
    expect(client.leases.heldOnThisComputerBy('agent3')).toBeUndefined()
    await clock.advance(89_999)
    expect(client.leases.heldElsewhere('agent3')).toBeDefined()
    await clock.advance(1)
    expect(client.leases.heldElsewhere('agent3')).toBeUndefined()
    await client.leases.ensure('agent3')
    expect(relay.asked).toHaveLength(2)
  })

  it('renews, and claims again when nobody holds it', async () => {
    const { relay, clock, client } = await scene(grants)
    await client.leases.ensure('agent3')
    await clock.advance(20_000)
    relay.script((asked, response) =>
      asked.path === '/agents/lease/renew'
        ? json(response, 409, { error: 'held_by_other', held_by: null })
        : json(response, 200, { ok: true, epoch: 9 })
    )
    expect(await client.leases.ensure('agent3')).toEqual({ kind: 'held', epoch: 9 })
    expect(relay.asked.map(({ path }) => path)).toEqual([
      '/agents/lease',
      '/agents/lease/renew',
      '/agents/lease'
    ])
  })

  it('looks again whether the agent is wanted once it has waited for its turn', async () => {
    let wanted = true
    let go = () => {}
    const { relay, client } = await scene(
      async (_, response) => {
        await new Promise<void>((resolve) => {
          go = resolve
        })
        json(response, 200, { ok: true, epoch: 1 })
      },
      { isSubscribed: () => wanted }
    )
    const releasing = client.leases.takeOver('agent3')
    const claiming = client.leases.ensure('agent3')
    await until(() => relay.asked.length === 1)
    wanted = false
    go()
    expect(await releasing).toEqual({ kind: 'held', epoch: 1 })
    expect(await claiming).toEqual({ kind: 'unsubscribed' })
    expect(relay.asked).toHaveLength(1)
  })

  it('does not send a name that no URL can carry', async () => {
    const { relay, client } = await scene(grants)
    for (const name of ['', ' ', '.', '..', 'a\nb', '\ud800', 'x'.repeat(257)]) {
      expect(await client.leases.ensure(name)).toEqual({ kind: 'unknown', why: 'unusable-name' })
      expect(await client.leases.release(name)).toEqual({ kind: 'not-held' })
    }
    expect(relay.asked).toHaveLength(0)
    await client.leases.holder('Агент 7/50%')
    expect(relay.asked[0]).toMatchObject({
      path: `/agents/lease/${encodeURIComponent('агент 7/50%')}`,
      headers: { 'x-agent-id': encodeURIComponent('агент 7/50%').replace('%2F', '/') }
    })
  })
})

describe('a release', () => {
  it('sends nothing for what was never held, and lets go of what was', async () => {
    const { relay, client } = await scene(grants)
    expect(await client.leases.release('agent3')).toEqual({ kind: 'not-held' })
    await client.leases.ensure('agent3')
    expect(await client.leases.release('agent3')).toEqual({ kind: 'released' })
    expect(relay.asked.map(({ path }) => path)).toEqual(['/agents/lease', '/agents/lease/release'])
    expect(client.leases.isHeld('agent3')).toBe(false)
    expect(client.leases.unreleased()).toEqual([])
  })

  it('keeps an agent that is wanted again by the time its turn comes', async () => {
    let wanted = false
    let go = () => {}
    const { relay, client } = await scene(grants, { isSubscribed: () => wanted })
    await client.leases.takeOver('agent3')
    relay.script(async (_, response) => {
      await new Promise<void>((resolve) => {
        go = resolve
      })
      json(response, 200, { ok: true, epoch: 8 })
    })
    const taking = client.leases.takeOver('agent3')
    const releasing = client.leases.release('agent3')
    await until(() => relay.asked.length === 2)
    wanted = true
    go()
    await taking
    expect(await releasing).toEqual({ kind: 'subscribed' })
    expect(client.leases.isHeld('agent3')).toBe(true)
  })

  it('that was not answered stays to be tried for one TTL, and so does a claim', async () => {
    const { relay, clock, client } = await scene(grants)
    await client.leases.ensure('agent3')
    relay.script((_, response) => json(response, 500, {}))
    expect(await client.leases.release('agent3')).toEqual({ kind: 'unknown', why: 'http-500' })
    expect(await client.leases.ensure('agent4')).toEqual({ kind: 'unknown', why: 'http-500' })
    expect(client.leases.held()).toEqual([])
    expect(client.leases.unreleased().sort()).toEqual(['agent3', 'agent4'])
    await clock.advance(30_000)
    await client.leases.release('agent3')
    await clock.advance(30_000)
    expect(client.leases.unreleased(), 'trying again does not make it longer').toEqual([])
  })
})

describe('a take-over', () => {
  it('takes, and what was refused before no longer counts', async () => {
    const { relay, client } = await scene((_, response) => held(response))
    await client.leases.ensure('agent3')
    relay.script(grants)
    expect(await client.leases.takeOver('agent3')).toEqual({ kind: 'held', epoch: 7 })
    expect(relay.asked[1]?.path).toBe('/agents/lease/take')
    expect(client.leases.heldElsewhere('agent3')).toBeUndefined()
  })

  it('is not undone by a refusal to a request that began before', async () => {
    let answer = () => {}
    const { relay, client } = await scene(async (asked, response) => {
      if (asked.path !== '/agents/lease') return json(response, 200, { ok: true, epoch: 8 })
      await new Promise<void>((resolve) => {
        answer = resolve
      })
      held(response)
    })
    const claiming = client.leases.ensure('agent3')
    await until(() => relay.asked.length === 1)
    client.leases.forgetElsewhere('agent3')
    answer()
    expect(await claiming).toEqual({ kind: 'unknown', why: 'changed-meanwhile' })
    expect(client.leases.heldElsewhere('agent3')).toBeUndefined()

    const since = client.leases.mark()
    await client.leases.takeOver('agent3')
    const [holder] = [client.leases.heldElsewhere('agent3')]
    expect(holder).toBeUndefined()
    const barn = {
      place: 'relay',
      hostname: 'barn',
      channel: '',
      version: '',
      pid: 0,
      acquiredAtMs: 0,
      epoch: 0,
      blockId: ''
    } as const
    expect(client.leases.noteNotHolderSince('agent3', since, barn)).toBe(false)
    expect(client.leases.isHeld('agent3')).toBe(true)
    expect(client.leases.noteNotHolderSince('agent3', client.leases.mark(), barn)).toBe(true)
    expect(client.leases.isHeld('agent3')).toBe(false)
  })

  it('claims what nobody holds: its holder has let go', async () => {
    const { relay, client } = await scene((asked, response) =>
      asked.path.endsWith('/take')
        ? json(response, 409, { error: 'not_holder', held_by: null })
        : json(response, 200, { ok: true, epoch: 3 })
    )
    expect(await client.leases.takeOver('agent3')).toEqual({ kind: 'held', epoch: 3 })
    expect(relay.asked.map(({ path }) => path)).toEqual(['/agents/lease/take', '/agents/lease'])
  })

  it('is refused when the relay names another, and claims where the relay cannot take', async () => {
    const { relay, client } = await scene((_, response) => held(response))
    expect(await client.leases.takeOver('agent3')).toMatchObject({ kind: 'held-elsewhere' })
    relay.script((asked, response) =>
      asked.path.endsWith('/take') ? json(response, 404, {}) : json(response, 200, { ok: true, epoch: 2 })
    )
    expect(await client.leases.takeOver('agent3')).toEqual({ kind: 'held', epoch: 2 })
    expect(relay.asked.map(({ path }) => path).slice(1)).toEqual(['/agents/lease/take', '/agents/lease'])
  })
})

describe('the holder', () => {
  it('is asked once in 20 s, changes nothing, and is asked anew after a change', async () => {
    const { relay, clock, client } = await scene((asked, response) =>
      asked.method === 'GET'
        ? json(response, 200, { state: 'other', held_by: BARN })
        : json(response, 200, { ok: true, epoch: 1 })
    )
    const answer = await client.leases.holder('Agent3')
    expect(answer).toMatchObject({ kind: 'other', holder: { hostname: 'barn' } })
    await clock.advance(19_999)
    expect(await client.leases.holder('agent3')).toEqual(answer)
    expect(relay.asked).toHaveLength(1)
    expect(client.leases.heldElsewhere('agent3')).toBeUndefined()
    await clock.advance(1)
    await client.leases.holder('agent3')
    expect(relay.asked).toHaveLength(2)
    await client.leases.ensure('agent3')
    await client.leases.holder('agent3')
    expect(relay.asked).toHaveLength(4)
  })

  it('is never remembered as unreachable', async () => {
    const { relay, client } = await scene((_, response) => json(response, 502, {}))
    expect(await client.leases.holder('agent3')).toEqual({ kind: 'unknown', why: 'http-502' })
    relay.script((_, response) => json(response, 200, { state: 'free' }))
    expect(await client.leases.holder('agent3')).toEqual({ kind: 'free' })
  })

  it('is described by what is known', async () => {
    const { client } = await scene(grants)
    const holder = {
      place: 'relay',
      hostname: 'barn',
      channel: 'dev',
      version: '0.44.0',
      pid: 0,
      acquiredAtMs: 0,
      epoch: 0,
      blockId: ''
    } as const
    const { leases } = client
    expect(leases.describeHolder(holder)).toBe('computer barn, channel dev, v0.44.0')
    expect(leases.describeHolder({ ...holder, hostname: 'mill' })).toBe('this computer, channel dev, v0.44.0')
    expect(leases.describeHolder({ ...holder, version: '', channel: '' })).toBe('computer barn')
    expect(leases.describeHolder({ ...holder, hostname: '', version: '' })).toBe('channel dev')
    expect(leases.holderOnThisComputer({ ...holder, hostname: 'mill' })).toBe(true)
    const nameless = await scene(grants, { identity: { ...IDENTITY, host: 'unknown' } })
    expect(nameless.client.leases.holderOnThisComputer({ ...holder, hostname: 'unknown' })).toBe(false)
  })
})

it('comes back from a snapshot', async () => {
  const { relay, clock, client } = await scene((asked, response) =>
    asked.body?.agent_id === 'agent3' ? json(response, 200, { ok: true, epoch: 5 }) : held(response)
  )
  await client.leases.ensure('agent3')
  await client.leases.ensure('agent4')
  await clock.advance(15_000)
  const snapshot = JSON.parse(JSON.stringify(client.snapshot()))
  expect(JSON.stringify(snapshot)).not.toContain(TOKEN)

  const other = await scene(grants)
  other.client.restore(snapshot)
  expect(other.client.snapshot()).toEqual(snapshot)
  expect(await other.client.leases.ensure('agent3')).toEqual({ kind: 'held', epoch: 5 })
  expect(other.client.leases.heldElsewhere('agent4')).toMatchObject({ hostname: 'barn' })
  await other.clock.advance(5_000)
  await other.client.leases.ensure('agent3')
  expect(other.relay.asked.map(({ path }) => path)).toEqual(['/agents/lease/renew'])
  expect(relay.asked).toHaveLength(2)
  expect(() => other.client.restore({ ...snapshot, batchSize: 0 })).toThrow('wrong at batchSize')
})

it('cancels a wait, and leaves nothing behind', async () => {
  const { relay, clock, client } = await scene(() => {})
  const first = new AbortController()
  const second = new AbortController()
  const asking = client.leases.ensure('agent3', { signal: first.signal })
  const waiting = client.leases.release('agent3', { signal: second.signal })
  await until(() => relay.asked.length === 1)
  second.abort(new Error('not now'))
  await expect(waiting).rejects.toThrow('not now')
  first.abort(new Error('enough'))
  await expect(asking).rejects.toThrow('enough')
  expect(clock.pendingTimers).toBe(0)
  expect(client.leases.unreleased(), 'the relay may have granted it').toEqual(['agent3'])
  relay.script(grants)
  expect(await client.leases.ensure('agent3')).toEqual({ kind: 'held', epoch: 7 })
})

it('claims for many agents at once with few connections, and without a warning', async () => {
  const warnings: Error[] = []
  const warned = (warning: Error) => warnings.push(warning)
  process.on('warning', warned)
  const { relay, client } = await scene(grants)
  const names = Array.from({ length: 200 }, (_, index) => `agent-${index}`)
  const answers = await Promise.all(names.map((name) => client.leases.ensure(name)))
  expect(answers.every(({ kind }) => kind === 'held')).toBe(true)
  expect(relay.connectionsMade()).toBeLessThanOrEqual(8)
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', warned)
  expect(warnings).toEqual([])
})
