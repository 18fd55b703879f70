/** Panes with real children and real files: what a pane's agent is given, and what is left when it ends. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from './harness/pane-scene.js'
import { lives, processesWith, sessionOf } from './harness/processes.js'
import { until } from './harness/until.js'

describe.concurrent('a pane', () => {
  test('runs its command in a session of its own, with the marks of its claim and a key of its own', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened([], { agent: 'Ada', environment: { AGENTMUX_TEST_SCENE: scene.folder } })
    expect(sessionOf(pane.pid)).toBe(pane.pid)
    await house.panes.send(pane.blockId, 'environment')
    const [text] = await house.says(pane.blockId, /\{.*\}/)
    const environment = JSON.parse(text)
    expect(environment).toMatchObject({
      AGENTMUX_AGENT_ID: 'Ada',
      AGENTMUX_AGENT_UID: scene.uid,
      AGENTMUX_BLOCKID: pane.blockId,
      AGENTMUX_LOCAL_URL: 'http://127.0.0.1:9',
      AGENTMUX_CLAIM_ID: scene.lease().claim_id,
      AGENTMUX_LEASE_EPOCH: String(pane.epoch)
    })
    expect(JSON.stringify(environment)).not.toContain('the-full-key')
    expect(house.panes.paneOfKey(environment.AGENTMUX_AUTH_KEY)?.blockId).toBe(pane.blockId)
    expect(house.panes.paneOfKey(`${environment.AGENTMUX_AUTH_KEY}0`)).toBeUndefined()
    expect(house.panes.paneOfKey('')).toBeUndefined()
    await house.panes.close(pane.blockId)
    expect(house.panes.paneOfKey(environment.AGENTMUX_AUTH_KEY)).toBeUndefined()
  })

  test('takes no mark of a claim and no key from whoever opens it', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened([], {
      environment: {
        AGENTMUX_TEST_SCENE: scene.folder,
        AGENTMUX_CLAIM_ID: 'of-another',
        AGENTMUX_AUTH_KEY: 'of-another',
        AGENTMUX_MUXBUS_TOKEN: 'of-another',
        AGENTMUX_BLOCKID: 'of-another'
      }
    })
    await house.panes.send(pane.blockId, 'environment')
    const [text] = await house.says(pane.blockId, /\{.*\}/)
    expect(text).not.toContain('of-another')
    await expect(
      house.panes.open(house.request([], { environment: { 'AGENTMUX_CLAIM_ID=x': 'y' } }))
    ).rejects.toThrow(TypeError)
  })

  test('has in the record, in order, that it was opened, its turns, its output and its end', async ({
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened(['--exit', '3'])
    const sent = await house.panes.send(pane.blockId, 'hello')
    expect(sent).toMatchObject({ kind: 'sent', epoch: pane.epoch })
    await house.says(pane.blockId, /heard hello/)
    const closed = await house.panes.close(pane.blockId)
    expect(closed).toMatchObject({
      kind: 'closed',
      pane: { state: 'ended', exit: { code: 3, signal: null } }
    })
    const lines = await house.lines()
    expect(lines.map(({ event }) => event.kind)).toEqual(['opened', 'output', 'turn', 'output', 'ended'])
    expect(lines.find(({ event }) => event.kind === 'turn')).toMatchObject({
      position: sent.kind === 'sent' && sent.position,
      epoch: pane.epoch,
      event: { text: 'hello' }
    })
    expect(lines.at(-1)?.event).toMatchObject({ code: 3, signal: null })
  })

  test('gives its agent up only when everything that it started is gone', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--leaves'])
    await house.says(pane.blockId, /left/)
    const claim = `AGENTMUX_CLAIM_ID=${scene.lease().claim_id}`
    expect(processesWith(claim)).toHaveLength(2)
    const released = until('the lease is gone', () => !existsSync(scene.leaseFile()))
    const alive = released.then(() => processesWith(claim).filter(lives))
    await house.panes.send(pane.blockId, 'bye')
    await house.panes.close(pane.blockId)
    expect(await alive).toEqual([])
    expect((await house.becomes(pane.blockId, 'ended')).exit).toEqual({ code: 0, signal: null })
  })

  test('that ends by itself ends what it left, and gives its agent up', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--leaves'])
    await house.says(pane.blockId, /left/)
    const claim = `AGENTMUX_CLAIM_ID=${scene.lease().claim_id}`
    process.kill(pane.pid, 'SIGKILL')
    const ended = await house.becomes(pane.blockId, 'ended')
    expect(ended.exit).toEqual({ code: null, signal: 'SIGKILL' })
    expect(processesWith(claim).filter(lives)).toEqual([])
    expect(existsSync(scene.leaseFile())).toBe(false)
  })

  test('that does not end when asked is ended at the end of its grace', async ({ scene, houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'])
    const closed = await house.panes.close(pane.blockId, { graceMs: 1_000 })
    expect(closed).toMatchObject({
      kind: 'closed',
      pane: { state: 'ended', exit: { code: null, signal: 'SIGKILL' } }
    })
    expect(existsSync(scene.leaseFile())).toBe(false)
  })

  test('can be closed sooner than it was asked to before', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'])
    const slow = house.panes.close(pane.blockId, { graceMs: 3_600_000 })
    const refused = await house.panes.send(pane.blockId, 'too late')
    expect(refused).toMatchObject({ kind: 'ended', pane: { state: 'closing' } })
    await house.panes.close(pane.blockId, { graceMs: 0 })
    expect(await slow).toMatchObject({ kind: 'closed' })
  })

  test('is closing for whoever stops waiting for it, too', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--stubborn'])
    const abort = new AbortController()
    const closing = house.panes.close(pane.blockId, { graceMs: 500, signal: abort.signal })
    abort.abort(new Error('gone'))
    await expect(closing).rejects.toThrow('gone')
    await house.becomes(pane.blockId, 'ended')
  })

  test('whose agent takes no input any more takes no turn, and the record has none', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened(['--deaf'])
    const result = await until('it is known to be deaf', async () => {
      const sent = await house.panes.send(pane.blockId, 'hello')
      return sent.kind === 'ended' ? sent : undefined
    })
    expect(result).toMatchObject({ pane: { state: 'running' } })
  })

  test('says that its agent is busy when it does not read', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened()
    process.kill(pane.pid, 'SIGSTOP')
    const result = await until('it is busy', async () => {
      const sent = await house.panes.send(pane.blockId, 'x'.repeat(100_000))
      return sent.kind === 'sent' ? undefined : sent
    })
    expect(result).toEqual({ kind: 'busy' })
    process.kill(pane.pid, 'SIGCONT')
    await until('it takes turns again', async () => {
      const sent = await house.panes.send(pane.blockId, 'again')
      return sent.kind === 'sent'
    })
    await house.says(pane.blockId, /heard again/)
  })

  test('takes turns in the order in which they are sent, however many at once', async ({ houseOn }) => {
    const house = houseOn()
    const pane = await house.opened()
    const turns = Array.from({ length: 50 }, (_, index) => `turn ${index}`)
    const sent = await Promise.all(turns.map((turn) => house.panes.send(pane.blockId, turn)))
    expect(new Set(sent.map(({ kind }) => kind))).toEqual(new Set(['sent']))
    await house.says(pane.blockId, /heard turn 49/)
    const heard = (await house.output()).split('\n').filter((line) => line.startsWith('heard'))
    expect(heard).toEqual(turns.map((turn) => `heard ${turn}`))
    const recorded = (await house.lines()).filter(({ event }) => event.kind === 'turn')
    expect(recorded.map(({ event }) => event.text)).toEqual(turns)
  })

  test('has a turn that is longer than a line in pieces, and its agent gets it whole', async ({
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened()
    const text = 'ä\u{1F600}"'.repeat(20_000)
    expect(await house.panes.send(pane.blockId, text)).toMatchObject({ kind: 'sent' })
    await until('its output is whole', async () => (await house.output()).includes(`heard ${text}\n`))
    const pieces = (await house.lines()).filter(({ event }) => event.kind === 'turn')
    expect(pieces.map(({ event }) => event.text).join('')).toBe(text)
    expect(pieces.map(({ event }) => event.more)).toEqual([...pieces.slice(1).map(() => true), undefined])
    await expect(house.panes.send(pane.blockId, '\0'.repeat(250_000))).rejects.toThrow(RangeError)
  })

  test('can be followed while it runs, and read when it has ended', async ({ houseOn }) => {
    const house = houseOn()
    const before = await house.opened()
    await house.panes.close(before.blockId)
    const pane = await house.opened()
    const abort = new AbortController()
    const seen: string[] = []
    for await (const item of house.panes.follow(pane.blockId, { signal: abort.signal }) ?? []) {
      if (item.kind !== 'line') continue
      seen.push(item.event.kind)
      if (item.event.kind === 'output') abort.abort()
    }
    expect(seen).toEqual(['opened', 'output'])
    await house.panes.close(pane.blockId)
    const read = await house.panes.read(pane.blockId)
    expect(read?.items.map((item) => item.kind === 'line' && item.event.kind)).toEqual([
      'opened',
      'output',
      'ended'
    ])
    expect(house.panes.follow('nobody', { signal: abort.signal })).toBeUndefined()
    expect(house.panes.read('nobody')).toBeUndefined()
  })

  test('is in the reactive registry while it lives, under its name or its UID', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const reactive = join(scene.shared, 'agents', 'reactive')
    const named = await house.opened([], { agent: 'Ada L.' })
    const unnamed = await house.opened([], { uid: `${scene.uid}-2` })
    const entry = JSON.parse(readFileSync(join(reactive, 'ada_l_', 'stable.json'), 'utf8'))
    expect(entry).toMatchObject({ agent_id: 'Ada L.', block_id: named.blockId, auth_key: 'the-full-key' })
    expect(existsSync(join(reactive, `${scene.uid}-2`, 'stable.json'))).toBe(true)
    expect(house.panes.registrations()).toMatchObject([
      { agentName: 'Ada L.', uid: scene.uid, blockId: named.blockId },
      { agentName: `${scene.uid}-2`, blockId: unnamed.blockId }
    ])
    expect(await house.panes.register({ agent: 'Countess', blockId: named.blockId })).toEqual({
      kind: 'registered'
    })
    expect(existsSync(join(reactive, 'countess', 'stable.json'))).toBe(true)
    house.panes.unregister({ agent: 'ADA L.' })
    expect(existsSync(join(reactive, 'ada_l_', 'stable.json'))).toBe(false)
    await house.panes.close(named.blockId)
    await house.panes.close(unnamed.blockId)
    expect(house.panes.registrations()).toEqual([])
    expect(readdirSync(reactive).flatMap((name) => readdirSync(join(reactive, name)))).toEqual([])
    expect(await house.panes.register({ agent: 'Ada', blockId: named.blockId })).not.toEqual({
      kind: 'registered'
    })
  })

  test('is told to whoever watches: opened, changed, and removed once it is not kept any more', async ({
    houseOn
  }) => {
    const house = houseOn({ maxEnded: 1 })
    const first = await house.opened()
    await house.panes.close(first.blockId)
    const second = await house.opened()
    await house.panes.close(second.blockId)
    expect(house.events.map(({ kind, pane }) => [kind, pane.blockId, pane.state])).toEqual([
      ['opened', first.blockId, 'running'],
      ['changed', first.blockId, 'closing'],
      ['changed', first.blockId, 'ended'],
      ['opened', second.blockId, 'running'],
      ['changed', second.blockId, 'closing'],
      ['changed', second.blockId, 'ended'],
      ['removed', first.blockId, 'ended']
    ])
    expect(house.panes.list().map(({ blockId }) => blockId)).toEqual([second.blockId])
    expect(second.epoch).toBe(first.epoch + 1)
  })

  test('is one too many beyond the limit; ended ones do not count', async ({ scene, houseOn }) => {
    const house = houseOn({ maxLive: 1 })
    const pane = await house.opened()
    const other = house.request([], { uid: `${scene.uid}-2` })
    expect(await house.panes.open(other)).toEqual({ kind: 'too-many', limit: 1 })
    await house.panes.close(pane.blockId)
    expect(await house.panes.open(other)).toMatchObject({ kind: 'opened' })
  })

  test('is not opened any more once all are closed, and one that is being opened is given up', async ({
    scene,
    houseOn
  }) => {
    const house = houseOn()
    const pane = await house.opened()
    const other = house.panes.open(house.request([], { uid: `${scene.uid}-2` }))
    await house.panes.closeAll()
    expect((await other).kind).toMatch(/closing|opened/)
    expect(house.panes.get(pane.blockId)).toMatchObject({ state: 'ended' })
    expect(house.panes.list().every(({ state }) => state === 'ended')).toBe(true)
    expect(await house.panes.open(house.request())).toEqual({ kind: 'closing' })
    expect(readdirSync(scene.leases).filter((name) => name.endsWith('.lease.json'))).toEqual([])
  })
})
