/** The event stream over real sockets: complete, in order, and never at the daemon's expense. */
import type { Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { EventReader } from './harness/event-reader.js'
import { type HttpHouse, houseTest } from './harness/http-house.js'
import { sendRaw } from './harness/raw-request.js'
import { until } from './harness/until.js'

/** A pane whose view is almost as large as a request can make it. */
const LARGE = { command: ['sh', '-c', 'cat', ...Array.from({ length: 9 }, () => 'x'.repeat(100_000))] }
const LARGE_BYTES = 1_000_000

describe('the event stream', () => {
  houseTest(
    'begins with all panes, then tells each change once and in order',
    async ({ scene, openHouse }) => {
      const house = await openHouse()
      const early = await house.openPane()
      const reader = await EventReader.open(house)
      const { data } = await reader.shows('snapshot')
      expect(data.agents).toMatchObject([
        { block_id: early.blockId, uid: scene.uid, state: 'running', epoch: 1 }
      ])

      await house.client.post(`/api/v1/agents/${early.blockId}/close`, {})
      const ended = (agent: Record<string, unknown>) => (agent.agent as { state: string }).state === 'ended'
      await reader.shows('changed', ended)
      const late = await house.openPane({ uid: `${scene.uid}-2` })
      const opened = await reader.shows('opened')
      expect(opened.data.agent).toMatchObject({
        block_id: late.blockId,
        uid: `${scene.uid}-2`,
        state: 'running'
      })

      const ids = reader.events.map(({ id }) => id)
      expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
    }
  )

  houseTest('shows no key and no environment', async ({ scene, openHouse }) => {
    const house = await openHouse()
    const reader = await EventReader.open(house)
    const env = { AGENTMUX_TEST_SCENE: scene.folder, TOKEN: 'a-secret-of-the-agent' }
    const { key } = await house.openPane({ env })
    await reader.shows('opened')
    expect(JSON.stringify(reader.events)).not.toContain(key)
    expect(JSON.stringify(reader.events)).not.toContain('a-secret-of-the-agent')
  })

  houseTest('gives a sign of life while nothing happens', async ({ openHouse }) => {
    const house = await openHouse({ limits: { heartbeatMs: 20 } })
    const reader = await EventReader.open(house)
    await until('three heartbeats', () => reader.heartbeats >= 3)
    expect(reader.kinds()).toEqual(['snapshot'])
  })

  houseTest('drops a reader that stops reading, and nobody else', async ({ openHouse }) => {
    const house = await openHouse({ limits: { streamBytes: 64 * 1024 } })
    const largestWaiting = watchWaiting(house)
    const reader = await EventReader.open(house)
    await reader.shows('snapshot')
    const stopped = stopReading(house)
    await streams(house, 2)

    let opened = 0
    while ((await gauge(house, 'agentmux_event_streams')) > 1) {
      const { blockId } = await house.openPane({ ...LARGE, uid: `${house.scene.uid}-${opened++}` })
      await house.client.post(`/api/v1/agents/${blockId}/close`, {})
      // What the system keeps for the reader is a few megabytes.
      expect(opened).toBeLessThan(40)
    }
    await cutOff(stopped)
    await until(
      'the other has it all',
      () => reader.kinds().filter((kind) => kind === 'opened').length === opened
    )
    const ids = reader.events.map(({ id }) => id)
    expect(ids).toEqual(ids.map((_, index) => (ids[0] ?? 0) + index))
    // One event more than the limit at most.
    expect(largestWaiting()).toBeLessThan(64 * 1024 + 2 * LARGE_BYTES)
    expect(await house.logged()).toContain('fell behind')
  })

  houseTest('drops a reader that stopped although nothing happens', async ({ openHouse }) => {
    const house = await openHouse({ limits: { heartbeatMs: 50 } })
    for (let count = 0; count < 12; count++)
      await house.openPane({ ...LARGE, uid: `${house.scene.uid}-${count}` })
    const stopped = stopReading(house)
    await streams(house, 1)
    await streams(house, 0)
    await cutOff(stopped)
  })

  houseTest('forgets a reader that leaves', async ({ openHouse }) => {
    const house = await openHouse()
    const reader = await EventReader.open(house)
    await streams(house, 1)
    reader.response.destroy()
    await streams(house, 0)
  })

  houseTest('has so many readers and no more', async ({ openHouse }) => {
    const house = await openHouse({ limits: { streams: 2 } })
    const first = await EventReader.open(house)
    await EventReader.open(house)
    const refused = await house.client.get('/api/v1/agents/events')
    expect(refused).toMatchObject({ status: 429, body: '{"error":"too many event streams"}' })
    first.response.destroy()
    await streams(house, 1)
    expect((await EventReader.open(house)).response.statusCode).toBe(200)
  })

  houseTest('ends when the server closes', async ({ openHouse }) => {
    const house = await openHouse()
    const reader = await EventReader.open(house)
    const stopped = stopReading(house)
    await streams(house, 2)
    const { blockId } = await house.openPane()
    const path = `/api/v1/agents/${blockId}/record?follow=1`
    const record = await house.client.begin({ method: 'GET', path, headers: house.client.keyed })
    let recordEnded = false
    record.resume().on('end', () => {
      recordEnded = true
    })
    await house.app.close()
    await until('the streams have come to their end', () => reader.ended && recordEnded)
    await cutOff(stopped)
  })
})

/** A reader that has asked and then takes nothing. */
function stopReading(house: HttpHouse): Socket {
  const { port, client } = house
  const headers = { host: `127.0.0.1:${port}`, ...client.keyed }
  const socket = sendRaw(port, { method: 'GET', path: '/api/v1/agents/events', headers })
  socket.pause()
  // Being cut off is what the tests are about.
  socket.on('error', () => {})
  return socket
}

/** Whoever does not read sees that only once it does. */
function cutOff(stopped: Socket): Promise<boolean> {
  stopped.resume()
  return until('the connection of the reader that stopped is closed', () => stopped.destroyed)
}

/** The most that has waited in this process for any connection. */
function watchWaiting(house: HttpHouse): () => number {
  const sockets = new Set<Socket>()
  let largest = 0
  house.app.server.on('connection', (socket: Socket) => sockets.add(socket))
  house.panes.subscribe(() => {
    for (const socket of sockets) largest = Math.max(largest, socket.writableLength)
  })
  return () => largest
}

async function gauge(house: HttpHouse, name: string): Promise<number> {
  const { body } = await house.client.get('/metrics')
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(body)?.[1])
}

function streams(house: HttpHouse, count: number): Promise<boolean> {
  return until(
    `there are ${count} readers`,
    async () => (await gauge(house, 'agentmux_event_streams')) === count
  )
}
