/** What one client can cost the relay. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Client } from '../harness/client.js'
import { type House, openHouse } from '../harness/house.js'
import { WakeReader } from '../harness/wake-reader.js'

describe('limits', () => {
  let house: House
  let client: Client
  let token: string
  beforeEach(async () => {
    house = await openHouse({ limits: { requestTimeoutMs: 300, connections: 20 } })
    token = await house.token()
    client = new Client(house.url, { token })
  })
  afterEach(() => house.close())

  /** Sends bytes and returns what came until the relay closed. */
  async function sent(text: string): Promise<string> {
    const { port, hostname } = new URL(house.url)
    const socket = connect(Number(port), hostname)
    let answer = ''
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => {})
    socket.write(text)
    await once(socket, 'close')
    return answer
  }

  test('bodies: 64 KiB for a lease, 1 MiB for a batch', async () => {
    const fits = { agent_id: 'agent3', ...client.body, more: 'x'.repeat(60 * 1024) }
    expect(await client.post('/agents/lease', fits)).toMatchObject({ status: 200 })
    expect(await client.post('/agents/lease', { ...fits, more: 'x'.repeat(64 * 1024) })).toMatchObject({
      status: 413
    })
    const batch = { agents: ['agent3'], ...client.body, more: 'x'.repeat(1_000 * 1024) }
    expect(await client.post('/agents/lease/renew-batch', batch)).toMatchObject({ status: 200 })
    expect(
      await client.post('/agents/lease/renew-batch', { ...batch, more: 'x'.repeat(1024 * 1024) })
    ).toMatchObject({ status: 413 })
  })

  test('a thousand agents in a batch, of 256 characters each; one more is 413', async () => {
    const agents = Array.from({ length: 1_000 }, (_, index) => `${'日'.repeat(250)}${index}`)
    const { status, json } = await client.renewAll(agents)
    expect(status).toBe(200)
    expect(json.results).toHaveLength(1_000)
    expect(await client.renewAll(agents.map((_, index) => `a${index}`).concat('one-more'))).toMatchObject({
      status: 413
    })
  })

  test('a hundred ids in an ack', async () => {
    await client.claim('agent3')
    const id = (index: number) => `4.${String(index).padStart(15, '0')}.${'0'.repeat(36)}`
    const ids = Array.from({ length: 101 }, (_, index) => id(index))
    expect(await client.ack('agent3', ids.slice(1))).toMatchObject({
      status: 200,
      json: { acknowledged: [] }
    })
    expect(await client.ack('agent3', ids)).toMatchObject({ status: 413 })
  })

  test('the head of a request is bounded in size', async () => {
    const answer = await sent(`GET /health HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(answer).toContain('431')
  })

  test('a request that does not come to its end is ended, the head as well as the body', async () => {
    expect(await sent('GET /health HTTP/1.1\r\nhost: x\r\n')).toContain('408')
    const head = `POST /agents/lease HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`
    const answer = await sent(`${head}content-type: application/json\r\ncontent-length: 100\r\n\r\n{`)
    expect(answer).toMatch(/^$|408/)
    expect(await client.look('agent3')).toMatchObject({ status: 200 })
  })

  test('connections are bounded, and those that ended make room', async () => {
    const { port, hostname } = new URL(house.url)
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname))
    for (const socket of sockets) socket.on('error', () => {})
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const refused = connect(Number(port), hostname)
    refused.on('error', () => {})
    await once(refused, 'close')
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await client.look('agent3')).status).toBe(200)
  })

  test('closing ends wake streams at once', async () => {
    const reader = await WakeReader.open(house.url, token)
    await reader.next()
    const ended = reader.ended()
    await house.close()
    await ended
    house = await openHouse()
  })
})
