/** So that one computer cannot take all connections: what it has too many is ended before anything is read from it. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export function limitEachSource(server: Server, most: number): void {
  const counts = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const from = socket.remoteAddress ?? ''
    const count = (counts.get(from) ?? 0) + 1
    counts.set(from, count)
    socket.once('close', () => {
      const left = (counts.get(from) ?? 1) - 1
      if (left > 0) counts.set(from, left)
      else counts.delete(from)
    })
    if (count > most) socket.destroy()
  })
}
