/** A record that is read slowly, or not at all, costs the daemon next to nothing: over real sockets. */
import type { Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { type HttpHouse, houseTest } from './harness/http-house.js'
import { metric } from './harness/http-reading.js'
import { sendRaw } from './harness/raw-request.js'
import { until } from './harness/until.js'

/** Says some twenty megabytes, more than any system keeps for a reader, then reads its input. */
const TALKS = { command: ['sh', '-c', "head -c 20000000 /dev/zero | tr '\\0' x; echo; echo done; cat"] }
const MEGABYTE = 1024 * 1024

describe('a record over HTTP', () => {
  houseTest(
    'waits for whoever reads it slowly, and is given up where nobody reads',
    async ({ openHouse }) => {
      const house = await openHouse({ limits: { stallTimeoutMs: 1_000 } })
      const { blockId } = await house.openPane(TALKS)
      const stopped = [readNothing(house, blockId, ''), readNothing(house, blockId, '?follow=1')]
      const largest = watchWaiting(house)
      await until('nobody is left', async () => {
        const readers = await metric(house, 'agentmux_record_streams')
        return readers === 0 && largest() > 0
      })
      expect(largest()).toBeLessThan(2 * MEGABYTE)
      for (const socket of stopped) socket.resume()
      await until('both are cut off', () => stopped.every((socket) => socket.destroyed))

      // The agent was not held up.
      await until('it has said everything', async () => {
        const { body } = await house.client.get(`/api/v1/agents/${blockId}/record?from=19000000`)
        return body.includes('done')
      })
    }
  )

  houseTest('ends after the last item where the pane ends, or has ended', async ({ openHouse }) => {
    const house = await openHouse()
    const { blockId } = await house.openPane({ command: ['sh', '-c', 'read line; echo said $line'] })
    const path = `/api/v1/agents/${blockId}/record?follow=1&from=0`
    const following = house.client.get(path)
    await house.client.post(`/api/v1/agents/${blockId}/turns`, { text: 'it' })
    const whole = await following
    expect(whole.body).toContain('said it')
    expect(lastOf(whole.body)).toMatchObject({ kind: 'line', event: { kind: 'ended' } })
    expect((await house.client.get(path)).body).toBe(whole.body)
    expect((await house.client.get(`/api/v1/agents/${blockId}/record?from=0`)).body).toBe(whole.body)
  })

  houseTest(
    'ends with who has the agent where the pane is superseded, and can be read',
    async ({ openHouse }) => {
      const house = await openHouse()
      const { blockId } = await house.openPane()
      const path = `/api/v1/agents/${blockId}/record?follow=1`
      const following = house.client.get(path)
      house.daemon.admission.held.forEach((lease) => {
        lease.fence()
      })
      const whole = await following
      expect(lastOf(whole.body)).toMatchObject({ kind: 'superseded', refusal: { kind: 'lost' } })
      const again = await house.client.get(path)
      expect(again.body).toBe(whole.body)
      expect(again.body).toContain('opened')
    }
  )

  houseTest('has so many readers and no more', async ({ openHouse }) => {
    const house = await openHouse({ limits: { streams: 1 } })
    const { blockId } = await house.openPane()
    const path = `/api/v1/agents/${blockId}/record?follow=1`
    const first = await house.client.begin({ method: 'GET', path, headers: house.client.keyed })
    expect(await house.client.get(path)).toMatchObject({ status: 429, body: '{"error":"too many streams"}' })
    first.destroy()
    await until('the first has left', async () => (await metric(house, 'agentmux_record_streams')) === 0)
    const again = await house.client.begin({ method: 'GET', path, headers: house.client.keyed })
    expect(again.statusCode).toBe(200)
    again.destroy()
  })
})

function readNothing(house: HttpHouse, blockId: string, query: string): Socket {
  const { port, client } = house
  const path = `/api/v1/agents/${blockId}/record${query}`
  const headers = { host: `127.0.0.1:${port}`, ...client.keyed }
  const socket = sendRaw(port, { method: 'GET', path, headers })
  socket.pause()
  socket.on('error', () => {})
  return socket
}

/** The most that has waited in this process for any connection, looked at all the time. */
function watchWaiting(house: HttpHouse): () => number {
  let largest = 0
  house.app.server.on('connection', (socket: Socket) => {
    const timer = setInterval(() => {
      largest = Math.max(largest, socket.writableLength)
    }, 1)
    socket.once('close', () => clearInterval(timer))
  })
  return () => largest
}

function lastOf(lines: string): unknown {
  return JSON.parse(lines.trimEnd().split('\n').at(-1) ?? '')
}
