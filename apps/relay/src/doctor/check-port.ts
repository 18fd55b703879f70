/** Whether the relay could listen there, or whether one does already. */
import { createServer } from 'node:net'
import type { Check } from './check.js'

const name = 'port'

export function checkPort(host: string, port: number): Promise<Check> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host} port ${port}`
      if (error.code === 'EADDRINUSE') {
        const todo = 'If that is not the relay itself: give --port another one.'
        resolve({ name, level: 'warn', seen: `somebody listens on ${where}`, todo })
      } else {
        resolve({ name, level: 'fail', seen: `nothing can listen on ${where}: ${error.message}` })
      }
    })
    server.listen({ host, port }, () => {
      server.close(() => resolve({ name, level: 'ok', seen: `${host} port ${port} can be had` }))
    })
  })
}
