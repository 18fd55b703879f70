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

/** The whole of one answer that has a length, or ends with its connection. */
export async function ask(port: number, request: RawRequest): Promise<RawAnswer> {
  const socket = send(port, request)
  try {
    return await answerOn(socket)
  } finally {
    socket.destroy()
  }
}

/** The connection, with the request under way on it. */
export function send(port: number, { method, path, headers, body = '' }: RawRequest): Socket {
  const socket = connect({ host: '127.0.0.1', port })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write(`${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`)
  return socket
}

export function answerOn(socket: Socket): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let received = ''
    const finish = (ended: boolean) => {
      const answer = parse(received, ended)
      if (answer !== undefined) resolve(answer)
      else if (ended) reject(new Error(`the connection ended after: ${JSON.stringify(received)}`))
    }
    socket.setEncoding('latin1')
    socket.on('data', (text) => {
      received += text
      finish(false)
    })
    // A server that has answered may close while we still write.
    socket.on('error', () => {})
    socket.on('close', () => finish(true))
  })
}

function parse(received: string, ended: boolean): RawAnswer | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = received.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim()
    ])
  )
  const body = received.slice(end + 4)
  const chunked = headers['transfer-encoding'] === 'chunked'
  const whole = chunked
    ? body.endsWith('0\r\n\r\n')
    : body.length >= Number(headers['content-length'] ?? Number.NaN)
  return whole || ended ? { status: Number(first.split(' ')[1]), headers, body } : undefined
}
