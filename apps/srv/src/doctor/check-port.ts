/** Whether anything can listen on loopback: without that nobody can be asked to let an agent go. */
import { createServer } from 'node:net'
import { plainText } from '@agentmux/refusals'
import type { Check } from './check.js'

const name = 'port'

export function checkPort(): Promise<Check> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => {
      const seen = `nothing can listen on 127.0.0.1: ${plainText(error.message, 200)}`
      resolve({ name, level: 'fail', seen, todo: 'Bring the loopback interface up, or free some ports.' })
    })
    server.listen({ port: 0, host: '127.0.0.1' }, () => {
      server.close(() => resolve({ name, level: 'ok', seen: 'a port on 127.0.0.1 can be had' }))
    })
  })
}
