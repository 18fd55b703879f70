/** What arrives on a connection and is no request: not HTTP, too much of it, or too slow. It is answered if it can be, and ends. */
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

const ERRORS: Readonly<Record<number, string>> = {
  400: 'bad request',
  408: 'request timed out',
  431: 'the headers are too large'
}

export class BrokenRequests {
  /** The latest answer on a connection: nothing may be written into one that has begun. */
  readonly #answers = new WeakMap<Socket, ServerResponse>()

  /** A request has come this far. */
  began(socket: Socket, response: ServerResponse): void {
    this.#answers.set(socket, response)
  }

  readonly answer = (error: NodeJS.ErrnoException, socket: Socket): void => {
    const status = statusOf(error.code)
    const response = this.#answers.get(socket)
    const underWay = response?.headersSent === true && !response.writableFinished
    if (!socket.writable || status === undefined || underWay) {
      socket.destroy()
      return
    }
    const body = JSON.stringify({ error: ERRORS[status] })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'cache-control: no-store',
      'connection: close'
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  }
}

/** Undefined where nobody is left to read an answer. */
function statusOf(code: string | undefined): number | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
}
