/**
 * Who gets in where: every route with every key and every way to misuse it, asked over real sockets. The routes are those
 * the server has, so one that was added without a line here fails.
 */
import { fastify } from 'fastify'
import { describe, expect } from 'vitest'
import { AccessKeys } from '../src/http/access-keys.js'
import type { HttpApp, RouteAccess } from '../src/http/http-app.js'
import { guardRequests } from '../src/http/request-guard.js'
import { foreignBecause } from '../src/http/same-site.js'
import { Metrics } from '../src/metrics/metrics.js'
import { FULL_KEY, HttpHouse, LAN_KEY, WRONG_KEY } from './harness/http-house.js'
import { askRaw, type RawAnswer } from './harness/raw-request.js'
import { test } from './harness/scene.js'

type Key = 'none' | 'wrong' | 'pane' | 'lan' | 'full'

const EVERYONE: readonly Key[] = ['none', 'wrong', 'pane', 'lan', 'full']

/** Which keys open a route (PROTOCOL 4), and what a request without anything in it gets from it then. */
const ROUTES: Readonly<Record<string, { keys: readonly Key[]; status: number; body: RegExp }>> = {
  'GET /health': { keys: EVERYONE, status: 200, body: /^{"status":"ok","version":"1\.0\.0"}$/ },
  'GET /agentmux/reactive/agents': {
    keys: ['pane', 'full'],
    status: 200,
    body: /^\[{"agent_id":"Agent3","block_id":/
  },
  'GET /agentmux/reactive/agent-names': {
    keys: ['pane', 'lan', 'full'],
    status: 200,
    body: /^{"agents":\["Agent3"\]}$/
  },
  'GET /agentmux/reactive/agent': {
    keys: ['pane', 'lan', 'full'],
    status: 400,
    body: /^{"error":"missing id param"}$/
  },
  'POST /agentmux/reactive/register': {
    keys: ['pane', 'full'],
    status: 400,
    body: /^{"error":"agent_id required"}$/
  },
  'POST /agentmux/reactive/unregister': {
    keys: ['pane', 'full'],
    status: 400,
    body: /^{"error":"agent_id required"}$/
  },
  'GET /agentmux/agent/holding': { keys: ['lan', 'full'], status: 400, body: /^{"error":"uid required"}$/ },
  'POST /agentmux/agent/holdings': {
    keys: ['lan', 'full'],
    status: 400,
    body: /^{"error":"uids required"}$/
  },
  'POST /agentmux/agent/release': { keys: ['full'], status: 400, body: /^{"error":"uid required"}$/ },
  'POST /api/v1/agent/takeover': { keys: ['full'], status: 400, body: /^{"error":"block_id required"}$/ },
  'GET /api/v1/agents': { keys: ['full'], status: 200, body: /^{"agents":\[{"block_id":/ },
  'POST /api/v1/agents': { keys: ['full'], status: 400, body: /^{"error":"uid required"}$/ },
  'POST /api/v1/agents/:block/turns': { keys: ['full'], status: 400, body: /^{"error":"text required"}$/ },
  'POST /api/v1/agents/:block/close': { keys: ['full'], status: 404, body: /^{"error":"no such pane"}$/ },
  'GET /api/v1/agents/:block/record': { keys: ['full'], status: 404, body: /^{"error":"no such pane"}$/ },
  'GET /api/v1/agents/events': { keys: ['full'], status: 200, body: /event: snapshot\n/ },
  'GET /api/v1/lan': {
    keys: ['full'],
    status: 200,
    body: /^{"enabled":false,"signed":false,"addresses":\[\],/
  },
  'POST /api/v1/lan': { keys: ['full'], status: 400, body: /^{"error":"enabled required"}$/ },
  'GET /api/v1/lan/holder': { keys: ['full'], status: 400, body: /^{"error":"uid required"}$/ },
  'GET /api/v1/relay': { keys: ['full'], status: 200, body: /^{"enabled":false}$/ },
  'GET /api/v1/relay/holder': { keys: ['full'], status: 400, body: /^{"error":"agent required"}$/ },
  'POST /api/v1/relay/take-over': { keys: ['full'], status: 400, body: /^{"error":"uid required"}$/ },
  'GET /metrics': { keys: ['full'], status: 200, body: /^# HELP agentmux_lease_granted_total / }
}

const UNAUTHORIZED = { status: 401, body: '{"error":"unauthorized"}' }
const JSON_TYPE = { 'content-type': 'application/json' }
const HUGE = 2 * 1024 * 1024
/** Long enough for a request to arrive on any machine. */
const REQUEST_TIMEOUT_MS = 2_000

const HOSTS_OF_OTHERS = [
  'evil.example',
  'evil.example:PORT',
  '127.0.0.1.evil.example:PORT',
  '127.0.0.1',
  '127.0.0.1:1'
]
const FOREIGN: readonly Record<string, string>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://localhost:1' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' }
]

/** What is asked of one route, with the keys that this house knows. */
class Door {
  readonly name: string
  readonly #house: HttpHouse
  readonly #method: string
  readonly #path: string
  readonly #keys: Readonly<Record<Key, string>>

  constructor(house: HttpHouse, route: RouteAccess, paneKey: string) {
    this.name = `${route.method} ${route.path}`
    this.#house = house
    this.#method = route.method
    this.#path = route.path.replace(':block', 'no-such-block')
    this.#keys = { none: '', wrong: WRONG_KEY, pane: paneKey, lan: LAN_KEY, full: FULL_KEY }
  }

  get expected() {
    const expected = ROUTES[this.name]
    if (expected === undefined) throw new Error(`${this.name} has no line in the table`)
    return expected
  }

  get takesBody(): boolean {
    return this.#method === 'POST'
  }

  opens(key: Key): boolean {
    return this.expected.keys.includes(key)
  }

  /** A request with nothing in it, but for what is given. */
  ask(key: Key, more: { headers?: Record<string, string>; body?: string } = {}): Promise<RawAnswer> {
    const plain = this.takesBody ? { ...JSON_TYPE, 'content-length': '2' } : {}
    const body = more.body ?? (this.takesBody ? '{}' : '')
    return this.askWith(key, { ...plain, ...more.headers }, body)
  }

  askWith(key: Key, headers: Record<string, string>, body: string): Promise<RawAnswer> {
    const { port } = this.#house
    const presented = this.#keys[key] === '' ? {} : { 'x-authkey': this.#keys[key] }
    return askRaw(port, {
      method: this.#method,
      path: this.#path,
      headers: { host: `127.0.0.1:${port}`, ...presented, ...headers },
      body
    })
  }
}

interface AccessFixtures {
  readonly house: HttpHouse
  readonly doors: readonly Door[]
}

const accessTest = test.extend<AccessFixtures>({
  house: async ({ scene }, use) => {
    const house = await HttpHouse.open(scene, { limits: { requestTimeoutMs: REQUEST_TIMEOUT_MS } })
    try {
      await use(house)
    } finally {
      await house.close()
    }
  },
  doors: async ({ house }, use) => {
    const { key } = await house.openPane()
    await use(house.app.routeAccess.map((route) => new Door(house, route, key)))
  }
})

describe('the routes', () => {
  accessTest('are those of the table, each once', ({ doors }) => {
    expect(doors.map(({ name }) => name).sort()).toEqual(Object.keys(ROUTES).sort())
  })

  test('cannot be added without saying which keys open them', () => {
    const app = fastify() as unknown as HttpApp
    const keys = new AccessKeys({ full: FULL_KEY, paneOfKey: () => undefined })
    guardRequests(app, { keys, foreignBecause, metrics: new Metrics(), counted: 'turned_away_total' })
    expect(() => app.get('/new', async () => ({}))).toThrow('/new does not say which keys open it')
  })

  accessTest('open to the keys of the table and to no other', async ({ doors }) => {
    for (const door of doors) {
      for (const key of EVERYONE) {
        const { status, body } = await door.ask(key)
        const answer = `${door.name} with key ${key}: ${status}`
        if (door.opens(key)) {
          expect(answer).toBe(`${door.name} with key ${key}: ${door.expected.status}`)
          expect(body).toMatch(door.expected.body)
        } else {
          expect({ status, body }, answer).toEqual(UNAUTHORIZED)
        }
      }
    }
  })

  accessTest('turn away a name that is not ours, whatever the key', async ({ house, doors }) => {
    for (const door of doors) {
      for (const host of HOSTS_OF_OTHERS) {
        const headers = { host: host.replace('PORT', String(house.port)) }
        const { status, body } = await door.ask('full', { headers })
        expect({ status, body }, `${door.name} at ${host}`).toEqual({
          status: 403,
          body: '{"error":"host not allowed"}'
        })
      }
    }
  })

  accessTest('turn away pages of other sites, whatever the key', async ({ doors }) => {
    for (const door of doors) {
      for (const headers of FOREIGN) {
        const { status, body } = await door.ask('full', { headers })
        expect({ status, body }, `${door.name} from ${JSON.stringify(headers)}`).toEqual({
          status: 403,
          body: '{"error":"origin not allowed"}'
        })
      }
    }
  })

  accessTest('answer under all our names', async ({ house, doors }) => {
    const door = doors[0]
    for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]']) {
      const answer = await door?.ask('none', { headers: { host: `${host}:${house.port}` } })
      expect(answer?.status).toBe(200)
    }
  })

  accessTest('read no body of more than a megabyte, and none without the key', async ({ doors }) => {
    for (const door of doors.filter(({ takesBody }) => takesBody)) {
      const announced = { headers: { ...JSON_TYPE, 'content-length': String(HUGE) }, body: '{' }
      expect(await door.ask('full', announced)).toMatchObject({
        status: 413,
        body: '{"error":"the body is too large"}'
      })
      expect(await door.ask('wrong', announced)).toMatchObject(UNAUTHORIZED)
      const chunk = `${(HUGE / 2 + 1).toString(16)}\r\n${' '.repeat(HUGE / 2 + 1)}`
      const unannounced = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }
      expect(await door.askWith('full', unannounced, chunk)).toMatchObject({ status: 413 })
    }
  })

  accessTest('take JSON and nothing else', async ({ doors }) => {
    for (const door of doors.filter(({ takesBody }) => takesBody)) {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x'
      ]) {
        const { status, body } = await door.ask('full', { headers: { 'content-type': type } })
        expect({ status, body }, `${door.name} of ${type}`).toEqual({
          status: 415,
          body: '{"error":"the body must be application/json"}'
        })
        expect(await door.ask('none', { headers: { 'content-type': type } })).toMatchObject(UNAUTHORIZED)
      }
    }
  })

  accessTest('wait for a body only so long, and not at all without the key', async ({ doors }) => {
    const slow = { headers: { ...JSON_TYPE, 'content-length': '100' }, body: '{"uid":' }
    const asked = doors.filter(({ takesBody }) => takesBody)
    for (const door of asked) expect(await door.ask('none', slow)).toMatchObject(UNAUTHORIZED)
    const answers = await Promise.all(asked.map((door) => door.ask('full', slow)))
    for (const [index, { status, body }] of answers.entries()) {
      expect({ status, body }, asked[index]?.name).toEqual({
        status: 408,
        body: '{"error":"request timed out"}'
      })
    }
  })

  accessTest('answer as the printed table says', async ({ house, doors }) => {
    const slow = { 'content-type': 'application/json', 'content-length': '100' }
    const huge = { 'content-type': 'application/json', 'content-length': String(HUGE) }
    const rows = doors.map(async (door) => {
      const plain = { headers: {} }
      const cells: readonly (readonly [string, Promise<RawAnswer>])[] = [
        ['no key', door.ask('none', plain)],
        ['wrong key', door.ask('wrong', plain)],
        ['pane key', door.ask('pane', plain)],
        ['LAN key', door.ask('lan', plain)],
        ['full key', door.ask('full', plain)],
        ['huge body', door.askWith('full', huge, '{')],
        ['wrong type', door.ask('full', { headers: { 'content-type': 'text/plain' } })],
        ['slow body', door.askWith('full', slow, '{')],
        ['bad Host', door.ask('full', { headers: { host: `evil.example:${house.port}` } })],
        ['foreign Origin', door.ask('full', { headers: { origin: 'https://evil.example' } })]
      ]
      const lines = cells.map(async ([name, answer]) => `  ${name.padEnd(16)}${shown(await answer)}`)
      return [door.name, ...(await Promise.all(lines))].join('\n')
    })
    const table = `${(await Promise.all(rows)).join('\n\n')}\n`
    await expect(table).toMatchFileSnapshot('./fixtures/http-access.txt')
  })
})

/** Status and body of an answer, without what is another at every run. */
function shown({ status, body }: RawAnswer): string {
  const [first = ''] = body.replace(/^[0-9a-f]+\r\n/, '').split('\n')
  const stable = first
    .replace(
      /"(block_id|uid|cwd|command|pid|opened_at_ms|registered_at|last_seen|registration_nonce)":("[^"]*"|\[[^\]]*\]|\d+)/g,
      '"$1":…'
    )
    .trim()
  return `${status} ${stable}`
}
