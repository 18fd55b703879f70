/** What the relay says of itself. */
import { expect, test } from 'vitest'
import { Client } from '../harness/client.js'
import { openHouse } from '../harness/house.js'

test('health and readiness are open; without its store the relay lives and is not ready', async () => {
  const house = await openHouse()
  const ask = async (path: string) => {
    const response = await fetch(house.url + path)
    return { status: response.status, json: await response.json() }
  }
  try {
    expect(await ask('/health')).toEqual({ status: 200, json: { status: 'ok', version: '0.0.0-test' } })
    expect(await ask('/ready')).toEqual({ status: 200, json: { status: 'ready' } })
    await house.store.close()
    await expect.poll(async () => (await ask('/ready')).status).toBe(503)
    expect(await ask('/health')).toMatchObject({ status: 200 })
  } finally {
    await house.close()
  }
})

test('without its store every route is 503 with a time to come back, and nothing is made up', async () => {
  const house = await openHouse()
  try {
    const client = new Client(house.url, { token: await house.token() })
    await client.claim('agent3')
    await house.store.close()
    const answers = [
      await client.claim('agent3'),
      await client.renew('agent3'),
      await client.renewAll(['agent3']),
      await client.look('agent3'),
      await client.pending('agent3'),
      await client.inject('agent3', 'hello')
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 503, json: { error: 'unavailable' } })
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
  } finally {
    await house.close()
  }
})

test('the metrics count what happened', async () => {
  const house = await openHouse()
  try {
    const client = new Client(house.url, { token: await house.token() })
    const other = new Client(house.url, { token: await house.token(), install: 'install-b' })
    await client.claim('agent3')
    await other.claim('agent3')
    const text = await (await fetch(`${house.url}/metrics`)).text()
    expect(text).toContain('agentmux_relay_leases_held 1\n')
    expect(text).toContain('agentmux_relay_holder_changes_total{because="claimed"} 1\n')
    expect(text).toContain('agentmux_relay_requests_total{status="409"} 1\n')
  } finally {
    await house.close()
  }
})
