/** What a client can cost, and what it gets when it asks for something that is not there: over real sockets. */
import { connect } from 'node:net'
import { describe, expect } from 'vitest'
import type { HttpApp } from '../src/http/http-app.js'
import { FULL_KEY, type HttpHouse, houseTest } from './harness/http-house.js'
import { answerOn, askRaw, type RawRequest, sendRaw } from './harness/raw-request.js'
import { until } from './harness/until.js'

function raw(house: HttpHouse, more: Partial<RawRequest> = {}) {
  const headers = { host: `127.0.0.1:${house.port}`, 'x-authkey': FULL_KEY, ...more.headers }
  return { method: 'GET', path: '/health', ...more, headers }
}

describe('the server', () => {
  houseTest('knows its routes and their methods, and says which', async ({ openHouse }) => {
    const house = await openHouse()
    const asked: readonly [string, string, number, string?][] = [
      ['GET', '/', 404],
      ['GET', '/health/', 404],
      ['GET', '/Health', 404],
      ['GET', '//health', 404],
      ['GET', '/api/v1/agents/x/turns/y', 404],
      ['GET', '/api/v1/agents/x/turns', 405, 'POST'],
      ['POST', '/health', 405, 'GET'],
      ['HEAD', '/health', 405, 'GET'],
      ['OPTIONS', '/agentmux/agent/release', 405, 'POST'],
      ['DELETE', '/api/v1/agents', 405, 'GET, POST'],
      ['GET', '/%zz', 400],
      ['GET', `/api/v1/agents/${'x'.repeat(500)}/record`, 400]
    ]
    for (const [method, path, status, allow] of asked) {
      const answer = await askRaw(house.port, raw(house, { method, path }))
      expect({ status: answer.status, allow: answer.headers.allow }, `${method} ${path}`).toEqual({
        status,
        allow
      })
    }
  })

  houseTest('gives every answer an id of its own, and lets nothing keep it', async ({ openHouse }) => {
    const house = await openHouse()
    const ids = new Set<string | undefined>()
    for (const headers of [{}, { 'x-authkey': 'wrong' }, { 'x-request-id': 'mine', 'request-id': 'mine' }]) {
      const answer = await askRaw(house.port, raw(house, { path: '/metrics', headers }))
      ids.add(answer.headers['x-request-id'])
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff'
      })
    }
    expect(ids.size).toBe(3)
    expect(ids).not.toContain('mine')
    expect(ids).not.toContain(undefined)
  })

  houseTest('says no more of an error of its own than where the log has it', async ({ openHouse }) => {
    const house = await openHouse({
      prepare: (app) => {
        app.get('/test/fails', { config: { opens: 'anyone' } }, async () => {
          throw new Error('the words of an error')
        })
      }
    })
    const { status, headers, body } = await askRaw(house.port, raw(house, { path: '/test/fails' }))
    expect(status).toBe(500)
    expect(JSON.parse(body)).toEqual({ error: 'internal error', request_id: headers['x-request-id'] })
    const log = await house.logged()
    expect(log).toContain('the words of an error')
    expect(log).toContain(headers['x-request-id'])
  })

  houseTest('reads no more of headers, and waits no longer for them', async ({ openHouse }) => {
    const house = await openHouse({ limits: { requestTimeoutMs: 300 } })
    const large = await askRaw(house.port, raw(house, { headers: { 'x-other': 'x'.repeat(20_000) } }))
    expect(large).toMatchObject({ status: 431, body: '{"error":"the headers are too large"}' })
    const silent = connect({ host: '127.0.0.1', port: house.port })
    silent.write('GET /health HTTP/1.1\r\nHost: ')
    expect(await answerOn(silent)).toMatchObject({ status: 408, body: '{"error":"request timed out"}' })
    const noise = connect({ host: '127.0.0.1', port: house.port })
    noise.write('what is this\r\n\r\n')
    expect(await answerOn(noise)).toMatchObject({ status: 400, body: '{"error":"bad request"}' })
    await until('nothing is kept', async () => (await connections(house.app)) === 0)
  })

  houseTest('has so many connections and no more', async ({ openHouse }) => {
    const house = await openHouse({ limits: { connections: 3, requestTimeoutMs: 60_000 } })
    const idle = [0, 1, 2].map(() => connect({ host: '127.0.0.1', port: house.port }))
    await until('three are connected', async () => (await connections(house.app)) === 3)
    await expect(askRaw(house.port, raw(house))).rejects.toThrow('the connection ended')
    idle[0]?.destroy()
    await until('there is room', async () => (await connections(house.app)) < 3)
    expect((await askRaw(house.port, raw(house))).status).toBe(200)
    for (const socket of idle) socket.destroy()
  })

  houseTest('does not wait for a reader that does not take its answer', async ({ openHouse }) => {
    const house = await openHouse({
      limits: { stallTimeoutMs: 200 },
      prepare: (app) => {
        const large = 'x'.repeat(32 * 1024 * 1024)
        app.get('/test/large', { config: { opens: 'anyone' } }, async () => large)
      }
    })
    const socket = sendRaw(house.port, raw(house, { path: '/test/large' }))
    socket.pause()
    socket.on('error', () => {})
    await until('it has connected', async () => (await connections(house.app)) === 1)
    await until('it is cut off', async () => (await connections(house.app)) === 0)
    socket.destroy()
  })

  houseTest('answers what is under way when it closes, and nothing after it', async ({ openHouse }) => {
    const { house, begun, finish } = await withSlowRoute(openHouse)
    const { port } = house
    const late = raw(house)
    const underWay = sendRaw(house.port, raw(house, { path: '/test/slow' }))
    await begun
    const idle = connect({ host: '127.0.0.1', port: house.port })
    const idleClosed = new Promise((resolve) => idle.on('close', resolve))
    idle.resume()
    await until('both are connected', async () => (await connections(house.app)) === 2)
    const closed = house.app.close()
    await idleClosed
    finish()
    expect(await answerOn(underWay)).toMatchObject({
      status: 200,
      headers: { connection: 'close' },
      body: '{"done":true}'
    })
    await closed
    await expect(askRaw(port, late)).rejects.toThrow('the connection ended')
  })

  houseTest('closes although something is under way that does not end', async ({ openHouse }) => {
    const { house, begun, finish } = await withSlowRoute(openHouse, { closeTimeoutMs: 100 })
    const underWay = sendRaw(house.port, raw(house, { path: '/test/slow' }))
    const cutOff = answerOn(underWay).catch((error: Error) => error.message)
    await begun
    await house.app.close()
    expect(await cutOff).toContain('the connection ended')
    finish()
  })
})

async function withSlowRoute(
  openHouse: (options: Parameters<typeof HttpHouse.open>[1]) => Promise<HttpHouse>,
  limits = {}
) {
  let begin = () => {}
  let finish = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const prepare = (app: HttpApp) => {
    app.get('/test/slow', { config: { opens: 'anyone' } }, async () => {
      begin()
      await finished
      return { done: true }
    })
  }
  return { house: await openHouse({ prepare, limits }), begun, finish: () => finish() }
}

function connections(app: HttpApp): Promise<number> {
  return new Promise((resolve, reject) => {
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}
