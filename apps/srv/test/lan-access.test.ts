/** Who gets in where on the network: every route of the daemon, asked at a LAN listener with every key and every misuse. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LanSecret, verifyAnswer } from '@agentmux/lan-tier'
import { describe, expect } from 'vitest'
import { createLanServer } from '../src/http/lan-server.js'
import { Metrics } from '../src/metrics/metrics.js'
import { FULL_KEY, HttpHouse, LAN_KEY, VERSION, WRONG_KEY } from './harness/http-house.js'
import { askRaw, type RawAnswer } from './harness/raw-request.js'
import { test } from './harness/scene.js'

const SECRET = 'a secret that nobody may read'
const NONCE = '0123456789abcdef'.repeat(2)
const HUGE = String(2 * 1024 * 1024)
const JSON_TYPE = { 'content-type': 'application/json' }

interface Gate {
  readonly house: HttpHouse
  readonly port: number
  readonly paneKey: string
  ask(method: string, path: string, headers?: Record<string, string>, body?: string): Promise<RawAnswer>
}

const gateTest = test.extend<{ gate: Gate }>({
  gate: async ({ scene }, use) => {
    const house = await HttpHouse.open(scene, { secret: SECRET })
    const { panes, admission } = house.daemon
    const { app, createServer } = await createLanServer(
      { panes, admission, metrics: new Metrics(), log: house.log, version: VERSION, isYielding: () => false },
      { lanKey: LAN_KEY, secret: new LanSecret(SECRET) }
    )
    const server = createServer()
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
    const { port } = server.address() as AddressInfo
    const { key: paneKey } = await house.openPane()
    const ask: Gate['ask'] = (method, path, headers = {}, body = '') =>
      askRaw(port, { method, path, headers: { host: `127.0.0.1:${port}`, ...headers }, body })
    try {
      await use({ house, port, paneKey, ask })
    } finally {
      await closed(server)
      await app.close()
      await house.close()
    }
  }
})

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}

/** Those that a LAN listener has (PROTOCOL 4), and what a request with nothing in it gets with the LAN key. */
const SERVED: Readonly<Record<string, { status: number; body: RegExp }>> = {
  'GET /health': { status: 200, body: /^{"status":"ok","version":"1\.0\.0"}$/ },
  'GET /agentmux/reactive/agent-names': { status: 200, body: /^{"agents":\["Agent3"\]}$/ },
  'GET /agentmux/reactive/agent': { status: 400, body: /^{"error":"missing id param"}$/ },
  'GET /agentmux/agent/holding': { status: 400, body: /^{"error":"uid required"}$/ },
  'POST /agentmux/agent/holdings': { status: 400, body: /^{"error":"uids required"}$/ }
}
const NOT_THERE = { status: 404, body: '{"error":"not found"}' }
const UNAUTHORIZED = { status: 401, body: '{"error":"unauthorized"}' }

describe('a LAN listener', () => {
  gateTest('opens its routes to the LAN key, and has no others whatever the key', async ({ gate }) => {
    const keys = { none: '', wrong: WRONG_KEY, pane: gate.paneKey, full: FULL_KEY, lan: LAN_KEY }
    for (const { method, path } of gate.house.app.routeAccess) {
      for (const [name, key] of Object.entries(keys)) {
        const body = method === 'POST' ? '{}' : ''
        const sent = method === 'POST' ? { ...JSON_TYPE, 'content-length': '2' } : {}
        const presented = key === '' ? {} : { 'x-authkey': key }
        const answer = await gate.ask(method, path.replace(':block', 'x'), { ...sent, ...presented }, body)
        const asked = `${method} ${path} with key ${name}`
        const served = SERVED[`${method} ${path}`]
        if (served === undefined) expect(answer, asked).toMatchObject(NOT_THERE)
        else if (name !== 'lan' && path !== '/health') expect(answer, asked).toMatchObject(UNAUTHORIZED)
        else {
          expect(answer.status, asked).toBe(served.status)
          expect(answer.body, asked).toMatch(served.body)
        }
      }
    }
  })

  gateTest('has nothing else: other methods, other addresses', async ({ gate }) => {
    const key = { 'x-authkey': LAN_KEY }
    for (const [method, path] of [
      ['POST', '/health'],
      ['GET', '/agentmux/agent/holdings'],
      ['DELETE', '/agentmux/agent/holding?uid=x'],
      ['OPTIONS', '/agentmux/agent/holding'],
      ['GET', '/'],
      ['GET', '/agentmux/agent/holding/'],
      ['GET', '//agentmux/agent/holding']
    ] as const) {
      expect(await gate.ask(method, path, key), `${method} ${path}`).toMatchObject(NOT_THERE)
    }
    const large = { ...key, ...JSON_TYPE, 'content-length': HUGE }
    expect((await gate.ask('POST', '/api/v1/agents', large, '{')).status).toBeGreaterThanOrEqual(400)
  })

  gateTest('tells no UID, and answers what is asked', async ({ gate }) => {
    const key = { 'x-authkey': LAN_KEY }
    const { uid } = gate.house.scene
    const one = await gate.ask('GET', '/agentmux/reactive/agent?id=Agent3', key)
    expect(one.status).toBe(200)
    expect(one.body).not.toContain(uid)
    const holding = await gate.ask('GET', `/agentmux/agent/holding?uid=${uid}`, key)
    expect(JSON.parse(holding.body)).toMatchObject({
      held: true,
      claim: expect.stringMatching(/^[0-9a-f]{64}$/)
    })
  })

  gateTest('turns away web pages, foreign names, huge and wrong bodies', async ({ gate }) => {
    const path = '/agentmux/agent/holdings'
    const key = { 'x-authkey': LAN_KEY, ...JSON_TYPE }
    for (const host of ['evil.example', 'localhost', `evil.example:${gate.port}`, 'a.b.local', '']) {
      expect((await gate.ask('POST', path, { ...key, host }, '')).status, host).toBeGreaterThanOrEqual(400)
    }
    for (const page of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'none' }
    ]) {
      expect((await gate.ask('POST', path, { ...key, ...page }, '')).status).toBe(403)
    }
    expect((await gate.ask('POST', path, { ...key, 'content-length': HUGE }, '{')).status).toBe(413)
    expect((await gate.ask('POST', path, { ...JSON_TYPE, 'content-length': HUGE }, '{')).status).toBe(401)
    const plain = { ...key, 'content-type': 'text/plain', 'content-length': '2' }
    expect((await gate.ask('POST', path, plain, '{}')).status).toBe(415)
    const many = JSON.stringify({ uids: Array.from({ length: 1_001 }, (_, index) => `u${index}`) })
    const tooMany = { ...key, 'content-length': String(many.length) }
    expect((await gate.ask('POST', path, tooMany, many)).status).toBe(400)
  })

  gateTest('signs every answer over its exact bytes, errors too, and only for a nonce', async ({ gate }) => {
    const secret = new LanSecret(SECRET)
    for (const [path, key] of [
      [`/agentmux/agent/holding?uid=${gate.house.scene.uid}`, LAN_KEY],
      ['/agentmux/agent/holding', LAN_KEY],
      ['/agentmux/agent/holding?uid=x', WRONG_KEY],
      ['/agentmux/reactive/agent-names?%C3%A4', LAN_KEY],
      ['/not/there', LAN_KEY],
      ['/health', '']
    ] as const) {
      const presented = key === '' ? {} : { 'x-authkey': key }
      const answer = await gate.ask('GET', path, { ...presented, 'x-agentmux-nonce': NONCE })
      const signature = answer.headers['x-agentmux-signature']
      const signed = { nonce: NONCE, path, body: answer.body }
      expect(verifyAnswer(secret, signed, signature), `${path} ${answer.status}`).toBe(true)
      expect(verifyAnswer(secret, { ...signed, body: `${answer.body} ` }, signature)).toBe(false)
      expect(verifyAnswer(secret, { ...signed, path: '/health?' }, signature)).toBe(false)
      const without = await gate.ask('GET', path, presented)
      expect(without.headers['x-agentmux-signature']).toBeUndefined()
    }
  })

  gateTest('says the LAN key and the LAN secret in no answer and no log line', async ({ gate }) => {
    const seen: string[] = []
    for (const text of [LAN_KEY, SECRET]) {
      const inQuery = encodeURIComponent(text)
      for (const path of [
        `/agentmux/agent/holding?uid=${inQuery}`,
        `/agentmux/reactive/agent?id=${inQuery}`,
        `/${inQuery}`,
        `/health?${inQuery}`
      ]) {
        for (const headers of [{ 'x-authkey': LAN_KEY }, { 'x-authkey': text }, { 'x-other': text }]) {
          const answer = await gate.ask('GET', path, { ...headers, 'x-agentmux-nonce': text })
          seen.push(JSON.stringify(answer))
        }
      }
      const body = JSON.stringify({ uids: [{ [text]: 1 }], [text]: text })
      const sent = { 'x-authkey': LAN_KEY, ...JSON_TYPE, 'content-length': String(body.length) }
      seen.push(JSON.stringify(await gate.ask('POST', '/agentmux/agent/holdings', sent, body)))
      gate.house.log.warn({ event: 'test', text, headers: { 'x-authkey': text } }, `with ${text}`)
    }
    const log = await gate.house.logged()
    expect(log).toContain('"event":"test"')
    for (const text of [LAN_KEY, SECRET]) {
      for (const shown of [seen.join('\n'), log]) expect(shown).not.toContain(text)
    }
  })
})
