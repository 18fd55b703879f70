/**
 * The connections of the server, and the answer that is under way on each. Keeps true that nothing is written into an answer
 * that has begun, and that closing waits for answers, not for clients that ask for nothing.
 */
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

const ERRORS: Readonly<Record<number, string>> = {
  400: 'bad request',
  408: 'request timed out',
  431: 'the headers are too large'
}

export class Connections {
  /** With the latest answer on each. */
  readonly #open = new Map<Socket, ServerResponse | undefined>()

  get size(): number {
    return this.#open.size
  }

  /** With TLS the answers are on the sockets inside; those below them go with them. */
  watch(server: Server | TlsServer): void {
    const event = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(event, (socket: Socket) => {
      this.#open.set(socket, undefined)
      socket.once('close', () => this.#open.delete(socket))
    })
  }

  /** A request has come so far that it gets an answer. */
  answering(socket: Socket, response: ServerResponse): void {
    if (this.#open.has(socket)) this.#open.set(socket, response)
  }

  /** For what arrives and is no request: not HTTP, too much of it, or too slow. It is answered if it can be, and ends. */
  readonly refuse = (error: NodeJS.ErrnoException, stream: Duplex): void => {
    const socket = stream as Socket
    const status = statusOf(error.code)
    if (!socket.writable || status === undefined || this.#hasBegun(socket)) {
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

  /** Ends those on which no answer is under way, also where no request ever came. */
  closeIdle(): void {
    for (const [socket, response] of this.#open) {
      if (response === undefined || response.writableFinished) socket.destroy()
    }
  }

  #hasBegun(socket: Socket): boolean {
    const response = this.#open.get(socket)
    return response?.headersSent === true && !response.writableFinished
  }
}

/** Undefined where nobody is left to read an answer. */
function statusOf(code: string | undefined): number | undefined {
  if (code === 'ECONNRESET' || code === 'EPIPE') return undefined
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  return code === 'HPE_HEADER_OVERFLOW' ? 431 : 400
}
