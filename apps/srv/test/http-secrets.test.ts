/** No key in any answer and in any line of the log, whatever is asked and wherever the key is put (R16). */
import { describe, expect } from 'vitest'
import { EventReader } from './harness/event-reader.js'
import { FULL_KEY, houseTest, LAN_KEY, WRONG_KEY } from './harness/http-house.js'
import { openPane } from './harness/pane-over-http.js'
import { askRaw } from './harness/raw-request.js'
import { test } from './harness/scene.js'
import { ServedDaemon } from './harness/served.js'

describe('a key', () => {
  houseTest('is in no answer and in no line of the log', async ({ openHouse }) => {
    const house = await openHouse({
      channel: 'beta',
      limits: { requestTimeoutMs: 500 },
      prepare: (app) => {
        app.get('/test/fails', { config: { opens: 'anyone' } }, async (request) => {
          const { headers } = request
          request.log.warn({ headers, authKey: headers['x-authkey'], request: { headers } }, 'test')
          throw new Error(`failed with ${FULL_KEY} and ${LAN_KEY}`)
        })
      }
    })
    const reader = await EventReader.open(house)
    const { key: paneKey, blockId } = await house.openPane()
    await house.client.post(`/api/v1/agents/${blockId}/turns`, { text: 'one' })
    await house.client.get(`/api/v1/agents/${blockId}/record`)
    await house.client.post('/agentmux/reactive/register', { agent_id: 'x', block_id: blockId }, paneKey)
    await house.client.post('/api/v1/agent/takeover', { block_id: blockId })

    // The pane is to stay open.
    const blockFor = (path: string) => (path.endsWith('/close') ? 'no-such-block' : blockId)
    const seen: string[] = []
    const keys = [FULL_KEY, LAN_KEY, paneKey, WRONG_KEY]
    for (const key of keys) {
      const asked = house.app.routeAccess.flatMap(({ method, path }) =>
        placesFor(key, path.replace(':block', blockFor(path)), method).map((place) => {
          const headers = { host: `127.0.0.1:${house.port}`, ...place.headers }
          return askRaw(house.port, { method, path: place.path, headers, body: place.body ?? '' })
        })
      )
      for (const { status, headers, body } of await Promise.all(asked)) {
        seen.push(`${status} ${JSON.stringify(headers)} ${body}`)
      }
    }
    await house.client.post(`/api/v1/agents/${blockId}/close`, {})
    const [answers, events, log] = [
      house.client.answers.join('\n'),
      JSON.stringify(reader.events),
      await house.logged()
    ]
    expect(seen.length).toBeGreaterThan(300)
    expect(log).toContain('[redacted]')
    expect(log).toContain('"path":"/test/fails"')
    for (const key of keys) {
      for (const text of [seen.join('\n'), answers, events, log]) expect(text).not.toContain(key)
    }
  })

  test('is in nothing that a daemon prints', async ({ scene }) => {
    const daemon = await ServedDaemon.start(scene, 'stable')
    const { key: paneKey, blockId } = await openPane(daemon.client, scene)
    await daemon.client.post('/api/v1/agents', { uid: scene.uid, command: ['true'] })
    await daemon.client.get(`/api/v1/agents/${blockId}/record`)
    await daemon.client.get('/api/v1/agents', `${daemon.key}x`)
    await daemon.client.get(`/health?key=${daemon.key}`)
    await daemon.stop()
    const { stdout, stderr } = await daemon.program.ended
    for (const key of [daemon.key, paneKey]) {
      for (const text of [stdout, stderr, daemon.client.answers.join('\n')]) expect(text).not.toContain(key)
    }
  })
})

interface Place {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** Where somebody might put a key, by right or by mistake. */
function placesFor(key: string, path: string, method: string): Place[] {
  const right = { 'x-authkey': key }
  const full = { 'x-authkey': FULL_KEY }
  const json = (body: string) => ({
    'content-type': 'application/json',
    'content-length': String(body.length)
  })
  const places: Place[] = [
    { path, headers: right },
    { path, headers: { ...right, host: 'evil.example' } },
    { path, headers: { ...right, origin: `https://${key.slice(0, 8)}.example` } },
    { path, headers: { 'x-authkey': `${key}, ${key}` } },
    { path, headers: { authorization: `Bearer ${key}` } },
    { path: `${path}?key=${key}`, headers: full },
    { path: `${path}?uid=${key}&id=${key}&from=${key}`, headers: full },
    { path: `/${key}${path}`, headers: full },
    { path: `${path}/%zz${key}`, headers: full },
    { path, headers: { ...full, 'x-other': `${key}${'x'.repeat(20_000)}` } }
  ]
  if (method !== 'POST') return places
  const bodies = [
    key,
    `{"uid":"${key}/"}`,
    `{"uid":"x","command":["${key}\\u0000"]}`,
    `{"uid":"x","command":["sh"],"env":{"${key}=":"x"}}`,
    `{"uid":"x","command":["sh"],"env":{"${key}":1}}`,
    `{"uids":{"${key}":1}}`,
    `{"${key}":1}`,
    `["${key}"]`
  ]
  return [
    ...places,
    ...bodies.map((body) => ({ path, body, headers: { ...full, ...json(body) } })),
    { path, body: `{"${key}`, headers: { ...full, ...json('x'.repeat(200)) } }
  ]
}
