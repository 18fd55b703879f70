/**
 * Renews again and again against a server that answers in every way it can, and prints what grew. Run by the test of the
 * same name against the built package; needs --expose-gc.
 */
import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import { createSystemClock } from '@agentmux/lease-model'
import { WanClient } from '../dist/index.js'

const count = Number(process.argv[2] ?? 2_000)
const sockets = new Set()
let mostSockets = 0
let turn = 0

const answers = [
  (response, agents) =>
    send(response, 200, { results: agents.map((agent_id) => ({ agent_id, ok: true, epoch: 1 })) }),
  (response) => send(response, 500, { error: 'x'.repeat(2_000) }),
  (response) => send(response, 400, {}),
  (response) => send(response, 401, {}),
  (response) => send(response, 302, {}, { location: 'https://elsewhere.example/' }),
  (response) => send(response, 200, {}),
  (response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(`<html>${'y'.repeat(5_000)}</html>`)
  },
  (response) => response.destroy(),
  (response) => {
    response.writeHead(200, { 'content-length': '500' })
    response.write('{"results":[', () => response.destroy())
  },
  (response) => send(response, 200, { results: [{ agent_id: 'agent-0', ok: true, epoch: 1 }] }),
  (response) => {
    response.writeHead(200)
    response.end('z'.repeat(200 * 1024))
  }
]

function send(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { agents } = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  answers[turn++ % answers.length](response, agents)
})
server.on('connection', (socket) => {
  sockets.add(socket)
  mostSockets = Math.max(mostSockets, sockets.size)
  socket.on('close', () => sockets.delete(socket))
  socket.on('error', () => {})
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

const client = new WanClient(
  {
    url: `http://127.0.0.1:${server.address().port}`,
    identity: {
      host: 'mill',
      channel: 'stable',
      version: '1.0.0',
      install: '0a1b2c3d-0000-4000-8000-000000000001'
    },
    token: () => 'token'
  },
  // The pause before a second try is of no interest here.
  { clock: { ...createSystemClock(), sleep: async () => {} } }
)
const agent = { held: true, epoch: 1, confirmedAgoMs: 0, maybeHeldForMs: 0 }
client.restore({
  ...client.snapshot(),
  agents: Array.from({ length: 10 }, (_, index) => ({ agent: `agent-${index}`, ...agent }))
})

const app = new AbortController()
const listeners = () => getEventListeners(app.signal, 'abort').length
const renew = async (times) => {
  for (let n = 0; n < times; n++) await client.leases.renewHeldBatch({ signal: app.signal })
}
const heap = () => {
  globalThis.gc()
  return process.memoryUsage().heapUsed
}

// Compiled code and pools settle first.
const warmUp = Math.max(200, Math.floor(count / 5))
await renew(warmUp)
const listenersBefore = listeners()
const heapBefore = heap()
const beganMs = performance.now()
await renew(count)
const tookMs = performance.now() - beganMs
const heapGrowthBytes = heap() - heapBefore
const held = client.leases.held().length
const listenersAfter = listeners()
await client.close()
const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)))
await Promise.all(closed)
server.close()
process.stdout.write(
  `${JSON.stringify({ renewals: count, held, mostSockets, listenersBefore, listenersAfter, heapGrowthBytes, socketsAfterClose: sockets.size, tookMs: Math.round(tookMs) })}\n`
)
