/** Panes over HTTP: opened, driven, read and closed, and refused where another has the agent. */
import { rmSync } from 'node:fs'
import { parseRefusal } from '@agentmux/refusals'
import { describe, expect } from 'vitest'
import { FULL_KEY, houseTest } from './harness/http-house.js'
import { bodyOf, metric, recordOf } from './harness/http-reading.js'
import { askRaw } from './harness/raw-request.js'
import { until } from './harness/until.js'

/** An agent that repeats what it hears. */
const ECHO = { command: ['sed', '-u', 's/^/heard /'] }

describe('a pane over HTTP', () => {
  houseTest('is opened, takes turns, and is closed', async ({ scene, openHouse }) => {
    const house = await openHouse()
    const opened = await house.client.post('/api/v1/agents', house.opening(ECHO))
    expect(opened.status).toBe(201)
    const { block_id: block, ...rest } = bodyOf(opened)
    expect(rest).toEqual({ uid: scene.uid, epoch: 1, pid: expect.any(Number) })

    const sent = await house.client.post(`/api/v1/agents/${block}/turns`, { text: 'one' })
    expect(sent).toMatchObject({ status: 200 })
    expect(bodyOf(sent)).toEqual({ position: expect.any(Number), epoch: 1 })
    await until('the record has the answer', async () =>
      (await recordOf(house, block)).some(({ event }) => event.text === 'heard one\n')
    )

    const closed = await house.client.post(`/api/v1/agents/${block}/close`, {})
    expect(bodyOf(closed).agent).toMatchObject({
      block_id: block,
      state: 'ended',
      exit: { code: 0, signal: null }
    })
    const { agents } = bodyOf(await house.client.get('/api/v1/agents'))
    expect(agents).toEqual([bodyOf(closed).agent])
    const late = await house.client.post(`/api/v1/agents/${block}/turns`, { text: 'two' })
    expect(late).toMatchObject({ status: 410 })
    expect(bodyOf(late)).toMatchObject({ error: 'the agent has ended', agent: { state: 'ended' } })
    expect((await recordOf(house, block)).filter(({ event }) => event.kind === 'turn')).toHaveLength(1)
  })

  houseTest('is read from a position on, and as it grows', async ({ openHouse }) => {
    const house = await openHouse()
    const { blockId } = await house.openPane(ECHO)
    const path = `/api/v1/agents/${blockId}/record`
    const headers = house.client.keyed
    const growing = await house.client.begin({ method: 'GET', path: `${path}?follow=1`, headers })
    expect(growing.headers['content-type']).toBe('application/x-ndjson; charset=utf-8')
    let text = ''
    growing.setEncoding('utf8').on('data', (more) => {
      text += more
    })
    const { position } = bodyOf(await house.client.post(`/api/v1/agents/${blockId}/turns`, { text: 'one' }))
    await until('the answer comes in', () => text.includes('heard one'))
    const fromTurn = await recordOf(house, blockId, `?from=${position}`)
    expect(fromTurn[0]).toMatchObject({
      kind: 'line',
      position,
      epoch: 1,
      event: { kind: 'turn', text: 'one' }
    })
    for (const bad of ['?from=-1', '?from=1.5', '?from=x', `?from=${2 ** 60}`, '?follow=yes']) {
      expect((await house.client.get(`${path}${bad}`)).status, bad).toBe(400)
    }
    growing.destroy()
  })

  houseTest('is refused in words for people and as data', async ({ scene, openHouse }) => {
    const [stable, beta] = [await openHouse({ channel: 'stable' }), await openHouse({ channel: 'beta' })]
    await stable.openPane()
    const { status, body } = await beta.client.post('/api/v1/agents', beta.opening())
    expect(status).toBe(409)
    const { error, refusal } = JSON.parse(body)
    expect(parseRefusal(refusal)).toMatchObject({ kind: 'held', holder: { channel: 'stable' } })
    expect(error).toBe(refusal.message)
    expect(error).toContain('is already running in another AgentMux instance')
    const line = (await beta.logged()).split('\n').find((one) => one.includes('"event":"denied"'))
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 'warn',
      agent: { uid: scene.uid, name: 'Agent3' },
      asked_by: { channel: 'beta' },
      holder: { channel: 'stable', pid: process.pid }
    })
    expect(await metric(beta, 'agentmux_lease_denied_total{tier="host"}')).toBe(1)
    expect(await metric(beta, 'agentmux_lease_granted_total{tier="host"}')).toBe(0)
    expect(await metric(stable, 'agentmux_lease_granted_total{tier="host"}')).toBe(1)
    expect(await metric(stable, 'agentmux_lease_held')).toBe(1)
    expect(await metric(stable, 'agentmux_lease_renewal_lag_seconds')).toBe(0)
  })

  houseTest(
    'that lost its agent takes no turn, can be watched, and says what happened',
    async ({ scene, openHouse }) => {
      const house = await openHouse()
      const { blockId } = await house.openPane(ECHO)
      rmSync(scene.leaseFile())
      const sent = await house.client.post(`/api/v1/agents/${blockId}/turns`, { text: 'late' })
      expect(sent.status).toBe(409)
      expect(parseRefusal(bodyOf(sent).refusal)).toMatchObject({ kind: 'lost' })
      expect(bodyOf(sent).error).toContain('lost its single-instance lease')
      expect(bodyOf(await house.client.get('/api/v1/agents')).agents).toMatchObject([
        { block_id: blockId, state: 'superseded', refusal: { kind: 'lost' } }
      ])
      expect(await recordOf(house, blockId)).not.toContainEqual(
        expect.objectContaining({ event: expect.objectContaining({ text: 'late' }) })
      )
      expect(await metric(house, 'agentmux_lease_fenced_total{tier="host"}')).toBe(1)
      const line = (await house.logged()).split('\n').find((one) => one.includes('"event":"fenced"'))
      expect(JSON.parse(line ?? '')).toMatchObject({
        level: 'warn',
        agent: { uid: scene.uid },
        block_id: blockId,
        was: { channel: 'stable', pid: process.pid },
        holder: null
      })
    }
  )

  houseTest('that cannot be run says so as a shell would', async ({ openHouse }) => {
    const house = await openHouse()
    const missing = await house.client.post('/api/v1/agents', house.opening({ command: ['no-such-program'] }))
    expect(missing.status).toBe(422)
    expect(bodyOf(missing)).toMatchObject({
      exit_code: 127,
      error: expect.stringContaining('no-such-program')
    })
    const folder = await house.client.post('/api/v1/agents', house.opening({ cwd: '/no/such/folder' }))
    expect(bodyOf(folder)).toMatchObject({ exit_code: 126 })
    expect(bodyOf(await house.client.get('/api/v1/agents'))).toEqual({ agents: [] })
  })

  const MISTAKES: readonly [Record<string, unknown>, string][] = [
    [{ uid: undefined }, 'uid required'],
    [{ uid: '' }, 'uid required'],
    [{ uid: 7 }, 'uid must be a string'],
    [{ uid: 'a/b' }, 'uid cannot be an agent UID'],
    [{ uid: null }, 'uid must be a string'],
    [{ agent: ' ' }, 'agent must not be empty'],
    [{ agent: 7 }, 'agent must be a string'],
    [{ agent: 'x'.repeat(129) }, 'agent must be at most 128 bytes long'],
    [{ agent: 'a\u001b[2Jb' }, 'agent must not hold control or invisible characters'],
    [{ agent: 'a\0b' }, 'agent must not hold control or invisible characters'],
    [{ command: undefined }, 'command required'],
    [{ command: 'claude' }, 'command must be an array'],
    [{ command: [] }, 'command.0 required'],
    [{ command: [''] }, 'command.0 required'],
    [{ command: ['sh', 7] }, 'command.1 must be a string'],
    [{ command: ['sh', 'a\0b'] }, 'command.1 must not hold a NUL'],
    [{ cwd: 'a\0b' }, 'cwd must not hold a NUL'],
    [{ env: ['x'] }, 'env must be an object'],
    [{ env: { X: 1 } }, 'env has a value in it that must be a string'],
    [{ env: { X: 'a\0b' } }, 'env has a value in it that must not hold a NUL'],
    [{ env: { 'X=Y': '1' } }, 'env has a name in it that cannot be one']
  ]
  houseTest('with a mistake in it is refused, and the field is named', async ({ openHouse }) => {
    const house = await openHouse()
    for (const [more, error] of MISTAKES) {
      const { status, body } = await house.client.post('/api/v1/agents', house.opening(more))
      expect({ status, body }, JSON.stringify(more)).toEqual({ status: 400, body: JSON.stringify({ error }) })
    }
  })

  const BODIES: readonly [string, string][] = [
    ['null', 'the body must be an object, not null'],
    ['[]', 'the body must be an object, not an array'],
    ['[{"uid":"a"}]', 'the body must be an object, not an array'],
    ['"uid"', 'the body must be an object, not a string'],
    ['7', 'the body must be an object, not a number'],
    ['true', 'the body must be an object, not a boolean'],
    ['{"uid":', 'the body is not JSON'],
    ['{"uid":"a"}{"uid":"b"}', 'the body is not JSON'],
    ['{"__proto__":{"uid":"a"}}', 'the body must not have a field __proto__'],
    ['{"uid":"a","env":{"\\u005f_proto__":{"x":"y"}}}', 'the body must not have a field __proto__'],
    ['{"constructor":{"prototype":{}}}', 'the body must not have a field constructor.prototype'],
    ['{"uid":"a","command":["sh"],"uid":"b"}', 'field 3 of the body repeats one before it'],
    ['{"uid":"a\\"b\\\\","\\u0075id":"b"}', 'field 2 of the body repeats one before it'],
    ['', 'uid required'],
    ['{"uid":"a","env":{"uid":"b"},"command":[{"uid":"c"}],"more":[{"uid":"d"}]}', 'command.0 must be a string']
  ]
  houseTest('with a body that is no request is refused, and the words say why', async ({ openHouse }) => {
    const house = await openHouse()
    for (const [text, error] of BODIES) {
      const answer = await askRaw(house.port, {
        method: 'POST',
        path: '/api/v1/agents',
        headers: {
          host: `127.0.0.1:${house.port}`,
          'x-authkey': FULL_KEY,
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(text))
        },
        body: text
      })
      expect({ status: answer.status, body: answer.body }, text).toEqual({
        status: 400,
        body: JSON.stringify({ error })
      })
    }
    expect(bodyOf(await house.client.get('/api/v1/agents'))).toEqual({ agents: [] })
  })

  houseTest('takes no turn that is too long', async ({ openHouse }) => {
    const house = await openHouse()
    const { blockId } = await house.openPane()
    const turn = (text: unknown) => house.client.post(`/api/v1/agents/${blockId}/turns`, { text })
    expect(await turn('x'.repeat(256 * 1024))).toMatchObject({ status: 413 })
    expect(await turn(['x'])).toMatchObject({ status: 400, body: '{"error":"text must be a string"}' })
    expect(await turn('x'.repeat(200 * 1024))).toMatchObject({ status: 200 })
  })
})
