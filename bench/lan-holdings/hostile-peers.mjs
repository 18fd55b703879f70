/** Peers on loopback that send hostile answers over real connections, in pieces, some of them leaving the line open. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { hostileAnswer } from './hostile-answers.mjs'

/** `onAnswer` is called for each answer sent. Give `close` back the promise: it ends every connection. */
export async function startHostilePeers(count, random, onAnswer = () => {}) {
  const sockets = new Set()
  const servers = []
  const peers = []
  for (let at = 0; at < count; at++) {
    const host = `127.0.1.${1 + (at % 250)}`
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
      socket.on('data', () => answer(socket, random, onAnswer))
    })
    server.listen(0, host)
    await once(server, 'listening')
    servers.push(server)
    peers.push(peerRecord({ host, port: server.address().port, number: at }))
  }
  return {
    peers,
    get open() {
      return sockets.size
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    }
  }
}

export function peerRecord({ host, port, number, authKey = 'key' }) {
  return {
    instanceId: `peer-${number}`,
    hostname: `peer-${number}`,
    version: '1',
    channel: 'stable',
    address: host,
    addresses: [host],
    port,
    authKey,
    agents: [],
    firstSeenMs: 1,
    lastSeenMs: 1
  }
}

function answer(socket, random, onAnswer) {
  const bytes = hostileAnswer(random)
  const cut = Math.floor(random() * bytes.length)
  onAnswer()
  if (random() < 0.02) return socket.resetAndDestroy()
  socket.write(bytes.subarray(0, cut))
  setImmediate(() => {
    if (socket.destroyed) return
    socket.write(bytes.subarray(cut))
    // Now and then the line stays open, and whoever asked has to end it himself.
    if (random() > 0.02) socket.end()
  })
}
