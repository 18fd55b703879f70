import { getEventListeners } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createSystemClock } from '@agentmux/lease-model'
import { createManualClock } from '@agentmux/lease-model/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InstanceClient } from '../src/instance/instance-client.js'
import { InstanceEndpoint } from '../src/instance/instance-endpoint.js'
import { bodyOf, send, serve, serveAnswer } from './another-instance.js'

const client = new InstanceClient({ clock: createSystemClock() })
const release = { uid: 'u-1', agent: 'Ada', requestedByChannel: 'stable', requestedByVersion: '1.2.3' }

function endpointAt(url: string, authKey = 'their-key'): InstanceEndpoint {
  const endpoint = InstanceEndpoint.at(url, { authKey, pid: 1, channel: 'nightly' })
  if (endpoint === undefined) throw new Error('not an endpoint')
  return endpoint
}

/** A server below HTTP; its address. */
async function listen(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

describe('the agents of another instance', () => {
  test('are asked for with its key, and read without what is not theirs to say', async () => {
    const { url, seen } = await serveAnswer(200, [
      { agent_id: 'Ada', block_id: 'b', uid: 'u-1', registered_at: 5, last_seen: 6, registration_nonce: 1 },
      { agent_id: 'no uid', block_id: 'b', registered_at: 5 },
      { agent_id: 'empty', block_id: 'b', uid: '  ' },
      { agent_id: 7, uid: 'u-2' },
      { uid: { toString: 'u-3' } },
      { uid: 'x'.repeat(2_000) },
      null,
      'u-4',
      ['u-5'],
      { uid: 'u-6' }
    ])
    expect(await client.registrations(endpointAt(url))).toEqual({
      kind: 'registrations',
      registrations: [
        { uid: 'u-1', agentName: 'Ada', blockId: 'b', registeredAtMs: 5 },
        { uid: 'u-6', agentName: '', blockId: '', registeredAtMs: 0 }
      ]
    })
    expect(seen).toEqual([{ method: 'GET', url: '/agentmux/reactive/agents', key: 'their-key', body: '' }])
  })

  test.each([
    ['an object', 200, {}, { kind: 'bad-answer', status: 200 }],
    ['no JSON', 200, '<html>', { kind: 'bad-answer', status: 200 }],
    ['null', 200, 'null', { kind: 'bad-answer', status: 200 }],
    ['an empty body', 200, '', { kind: 'bad-answer', status: 200 }],
    ['a list under another status', 201, [], { kind: 'bad-answer', status: 201 }],
    ['a fault', 500, { error: 'x' }, { kind: 'bad-answer', status: 500 }],
    ['a wrong key', 401, { error: 'unauthorized' }, { kind: 'unauthorized' }],
    ['404', 404, 'not found', { kind: 'too-old', status: 404 }],
    ['405', 405, '', { kind: 'too-old', status: 405 }]
  ])('%s is no answer', async (_name, status, body, expected) => {
    const { url } = await serveAnswer(status, body)
    expect(await client.registrations(endpointAt(url))).toEqual(expected)
  })

  test('a redirect is not followed', async () => {
    const target = await serveAnswer(200, [{ uid: 'u-1' }])
    const { url } = await serveAnswer(302, '', { location: `${target.url}/agentmux/reactive/agents` })
    expect(await client.registrations(endpointAt(url))).toEqual({ kind: 'bad-answer', status: 302 })
    expect(target.seen).toEqual([])
  })

  test('a body without end is cut off, and the connection with it', async () => {
    const closed = withResolvers()
    const url = await serve((_request, response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write('['.repeat(65_536))) {}
      }
      response.on('drain', more)
      response.on('close', () => closed.resolve())
      more()
    })
    expect(await client.registrations(endpointAt(url))).toEqual({ kind: 'no-answer', why: 'too-large' })
    await closed.promise
  })

  test('headers without end are no answer', async () => {
    const url = await listen((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = () => {
        while (!socket.destroyed && socket.write(`x-noise: ${'y'.repeat(8_000)}\r\n`)) {}
      }
      socket.on('drain', more)
      more()
    })
    expect(await client.registrations(endpointAt(url))).toEqual({ kind: 'no-answer', why: 'broken' })
  })

  test.each([
    ['says nothing and hangs up', ''],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['stops in the middle', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{"uid":"u-1"}'],
    ['switches protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n']
  ])('a server that %s is no answer', async (_name, bytes) => {
    const url = await listen((socket) => socket.end(bytes))
    expect(await client.registrations(endpointAt(url))).toEqual({ kind: 'no-answer', why: 'broken' })
  })

  test('a port where nothing listens is no answer', async () => {
    expect(await client.registrations(endpointAt('http://127.0.0.1:1'))).toEqual({
      kind: 'no-answer',
      why: 'refused'
    })
    expect(await client.registrations(endpointAt('http://localhost:1'))).toEqual({
      kind: 'no-answer',
      why: 'refused'
    })
  })

  test('localhost is this computer, whatever the name service says', async () => {
    const { url, seen } = await serveAnswer(200, [])
    const answer = await client.registrations(endpointAt(url.replace('127.0.0.1', 'localhost')))
    expect(answer.kind).toBe('registrations')
    expect(seen.length).toBe(1)
  })

  test('one that answers slowly is given 1,500 ms for the whole of it', async () => {
    const clock = createManualClock()
    const asked = withResolvers()
    const hungUp = withResolvers()
    const url = await serve((request, response) => {
      response.writeHead(200).write('[')
      asked.resolve()
      request.socket.on('close', () => hungUp.resolve())
    })
    const answer = new InstanceClient({ clock }).registrations(endpointAt(url))
    await asked.promise
    await clock.advance(1_499)
    expect(await Promise.race([answer, Promise.resolve('waiting')])).toBe('waiting')
    await clock.advance(1)
    expect(await answer).toEqual({ kind: 'no-answer', why: 'timed-out' })
    await hungUp.promise
    expect(clock.pendingTimers).toBe(0)
  })

  test('an abort ends the question at once and leaves no timer and no listener', async () => {
    const clock = createManualClock()
    const asked = withResolvers()
    const hungUp = withResolvers()
    const url = await serve((request) => {
      asked.resolve()
      request.socket.on('close', () => hungUp.resolve())
    })
    const controller = new AbortController()
    const answer = new InstanceClient({ clock }).registrations(endpointAt(url), controller.signal)
    await asked.promise
    controller.abort(new Error('enough'))
    await expect(answer).rejects.toThrow('enough')
    await hungUp.promise
    expect(clock.pendingTimers).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  test('one that was aborted before sends nothing', async () => {
    const { url, seen } = await serveAnswer(200, [])
    const answer = client.registrations(endpointAt(url), AbortSignal.abort(new Error('never mind')))
    await expect(answer).rejects.toThrow('never mind')
    expect(seen).toEqual([])
  })

  test('goes past the proxies of the environment', async () => {
    const proxy = await serveAnswer(200, [{ uid: 'from the proxy' }])
    for (const name of ['http_proxy', 'HTTP_PROXY', 'NODE_USE_ENV_PROXY', 'ALL_PROXY']) {
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url
      onTestFinished(() => {
        delete process.env[name]
      })
    }
    const { url } = await serveAnswer(200, [])
    expect(await client.registrations(endpointAt(url))).toEqual({ kind: 'registrations', registrations: [] })
    expect(proxy.seen).toEqual([])
  })
})

describe('whether another instance holds an agent', () => {
  const body = { held: true, hostname: 'mill', channel: 'stable', version: '1.0.0', acquired_at_ms: 17 }

  test('is asked by UID, whatever stands in it', async () => {
    const { url, seen } = await serveAnswer(200, { ...body, claim: 'a'.repeat(64), extra: 1 })
    expect(await client.holding(endpointAt(url), 'u 1&x=2#ü')).toEqual({
      kind: 'holding',
      holding: { ...body, claim: 'a'.repeat(64) }
    })
    expect(seen[0]?.url).toBe('/agentmux/agent/holding?uid=u%201%26x%3D2%23%C3%BC')
  })

  test('an older build says it without the claim, and a claim that is none is left out', async () => {
    for (const answer of [body, { ...body, claim: 'not a hash' }]) {
      const { url } = await serveAnswer(200, answer)
      expect(await client.holding(endpointAt(url), 'u-1')).toEqual({ kind: 'holding', holding: body })
    }
  })

  test.each([
    ['held is a word', { ...body, held: 'true' }],
    ['the host name is missing', { ...body, hostname: undefined }],
    ['the channel is too long', { ...body, channel: 'x'.repeat(65) }],
    ['the time is negative', { ...body, acquired_at_ms: -1 }],
    ['the time is not whole', { ...body, acquired_at_ms: 1.5 }],
    ['it is a list', [body]]
  ])('no answer where %s', async (_name, answer) => {
    const { url } = await serveAnswer(200, answer)
    expect(await client.holding(endpointAt(url), 'u-1')).toEqual({ kind: 'bad-answer', status: 200 })
  })
})

describe('asking another instance to let an agent go', () => {
  test('says who asks, and hears how many panes let go', async () => {
    const { url, seen } = await serveAnswer(200, { ok: true, released: 2 })
    expect(await client.requestRelease(endpointAt(url), release)).toEqual({ kind: 'released', count: 2 })
    expect(seen).toEqual([
      {
        method: 'POST',
        url: '/agentmux/agent/release',
        key: 'their-key',
        body: JSON.stringify({
          uid: 'u-1',
          agent: 'Ada',
          requested_by_channel: 'stable',
          requested_by_version: '1.2.3'
        })
      }
    ])
  })

  test.each([404, 405])('%d means that it is too old to be asked', async (status) => {
    const { url } = await serveAnswer(status, { error: 'not found' })
    expect(await client.requestRelease(endpointAt(url), release)).toEqual({ kind: 'too-old', status })
  })

  test('a refusal carries its sentence, fit for a terminal', async () => {
    const { url } = await serveAnswer(409, { error: '\u001b[31mnot now\u0007\n' })
    expect(await client.requestRelease(endpointAt(url), release)).toEqual({
      kind: 'refused',
      status: 409,
      error: 'not now'
    })
  })

  test.each([
    [200, { ok: false, error: 'no' }, { kind: 'refused', status: 200, error: 'no' }],
    [500, 'boom', { kind: 'refused', status: 500, error: '' }],
    [400, { error: 7 }, { kind: 'refused', status: 400, error: '' }],
    [200, { ok: true }, { kind: 'bad-answer', status: 200 }],
    [200, { ok: true, released: '2' }, { kind: 'bad-answer', status: 200 }],
    [200, { ok: true, released: -1 }, { kind: 'bad-answer', status: 200 }],
    [307, '', { kind: 'bad-answer', status: 307 }],
    [401, { error: 'unauthorized' }, { kind: 'unauthorized' }]
  ])('%d %j is not taken for a release', async (status, body, expected) => {
    const { url } = await serveAnswer(status, body, { location: 'http://127.0.0.1:1/' })
    expect(await client.requestRelease(endpointAt(url), release)).toEqual(expected)
  })

  test('is given 30 s, since what runs there may finish first', async () => {
    const clock = createManualClock()
    const asked = withResolvers()
    let answerNow = () => {}
    const url = await serve(async (request, response) => {
      await bodyOf(request)
      answerNow = () => send(response, 200, '{"ok":true,"released":1}')
      asked.resolve()
    })
    const answer = new InstanceClient({ clock }).requestRelease(endpointAt(url), release)
    await asked.promise
    await clock.advance(29_999)
    answerNow()
    expect(await answer).toEqual({ kind: 'released', count: 1 })
    expect(clock.pendingTimers).toBe(0)
  })

  test('shows its key in no answer', async () => {
    const answers = []
    for (const status of [200, 302, 401, 404, 500]) {
      const { url } = await serveAnswer(status, {})
      answers.push(await client.requestRelease(endpointAt(url, 'very-secret'), release))
    }
    expect(JSON.stringify(answers)).not.toContain('very-secret')
  })
})

function withResolvers() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
