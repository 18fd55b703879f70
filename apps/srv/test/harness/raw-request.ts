/** One request written byte by byte on a connection of its own, and what came back. Nothing is added that a test did not ask for. */
import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RawRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent behind the headers, without a length of its own. */
  readonly body?: string
}

/** One answer, whole; of an event stream its beginning. */
export async function askRaw(port: number, request: RawRequest): Promise<RawAnswer> {
  const socket = sendRaw(port, request)
  try {
    return await answerOn(socket, request.method)
  } finally {
    socket.destroy()
  }
}

/** The connection, with the request under way on it. */
export function sendRaw(port: number, { method, path, headers, body = '' }: RawRequest): Socket {
  const socket = connect({ host: '127.0.0.1', port })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`)
  return socket
}

export function answerOn(socket: Socket, method = 'GET'): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = ''
    const look = (ended: boolean) => {
      const answer = parse(received, ended || method === 'HEAD')
      if (answer !== undefined) resolve(answer)
      else if (ended) reject(new Error(`the connection ended after: ${JSON.stringify(received)}`))
    }
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      received += text
      look(false)
    })
    // A server that has answered may close while we still write.
    socket.on('error', () => {})
    socket.on('close', () => look(true))
  })
}

function parse(received: string, ended: boolean): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = received.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(lines.map(headerOf))
  const body = received.slice(end + 4)
  return ended || isWhole(headers, body) ? { status: Number(first.split(' ')[1]), headers, body } : undefined
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function isWhole(headers: Record<string, string>, body: string): boolean {
  if (headers['content-type']?.startsWith('text/event-stream')) return body.includes('\n\n')
  if (headers['transfer-encoding'] === 'chunked') return body.endsWith('0\r\n\r\n')
  return body.length >= Number(headers['content-length'] ?? Number.NaN)
}
