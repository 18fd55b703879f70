/** Asks a server on loopback, with real sockets, and keeps all that came back. */

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Asked {
  readonly method: string
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

export class HttpClient {
  port = 0
  /** Every answer, whole, as it came. */
  readonly answers: string[] = []
  readonly #key: string

  constructor(key: string) {
    this.#key = key
  }

  get keyed(): Record<string, string> {
    return { 'x-authkey': this.#key }
  }

  get(path: string, key = this.#key): Promise<Answer> {
    return this.ask({ method: 'GET', path, headers: { 'x-authkey': key } })
  }

  post(path: string, body: unknown, key = this.#key): Promise<Answer> {
    return this.ask({ method: 'POST', path, body, headers: { 'x-authkey': key } })
  }

  async ask(asked: Asked): Promise<Answer> {
    const response = await this.begin(asked)
    let body = ''
    response.setEncoding('utf8')
    for await (const text of response) body += text
    const { statusCode: status = 0, headers } = response
    this.answers.push(`${status} ${JSON.stringify(headers)} ${body}`)
    return { status, headers, body }
  }

  /** The beginning of an answer; the rest is for the caller to read. */
  begin({ method, path, body, headers = {} }: Asked): Promise<IncomingMessage> {
    const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          method,
          path,
          agent: false,
          headers: {
            ...(payload === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': payload.length }),
            ...headers
          }
        },
        resolve
      )
      sent.on('error', reject)
      sent.end(payload)
    })
  }
}
