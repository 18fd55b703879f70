/** A real HTTP server whose answers a test scripts. It remembers what was asked, and closes with everything it holds. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** The JSON of the body; undefined if there was none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever was sent.
  readonly body: any
}

export type Script = (asked: Asked, response: ServerResponse) => void | Promise<void>

export interface ScriptedRelay {
  readonly url: string
  /** Every request so far. */
  readonly asked: Asked[]
  /** Connections that are open now. */
  readonly sockets: ReadonlySet<Socket>
  readonly connectionsMade: () => number
  /** What answers from now on. */
  script(script: Script): void
  close(): Promise<void>
}

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export async function scriptedRelay(first: Script): Promise<ScriptedRelay> {
  let script = first
  let made = 0
  const asked: Asked[] = []
  const sockets = new Set<Socket>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const one: Asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text)
    }
    asked.push(one)
    await script(one, response)
  })
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    made += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    sockets,
    connectionsMade: () => made,
    script(next) {
      script = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

/** Resolves when `true` is first seen; looks between turns of the event loop, so it waits for the event. */
export async function until(seen: () => boolean): Promise<void> {
  while (!seen()) await new Promise((resolve) => setTimeout(resolve, 2))
}
