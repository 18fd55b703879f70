/** Requests to a relay over kept connections, cheaper than fetch: the client must not be what is measured. */
import { Agent, request } from 'node:http'

const TIMEOUT_MS = 10_000

export class RelayClient {
  #agent
  #token
  #url

  constructor(url, token, connections) {
    this.#url = new URL(url)
    this.#token = token
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Resolves with status and JSON; `status` 0 where there was no answer. */
  ask(method, path, { body, headers = {} } = {}) {
    return new Promise((resolve) => {
      const text = body === undefined ? undefined : JSON.stringify(body)
      const asked = request(
        {
          host: this.#url.hostname,
          port: this.#url.port,
          path,
          method,
          agent: this.#agent,
          timeout: TIMEOUT_MS,
          headers: {
            authorization: `Bearer ${this.#token}`,
            ...(text === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...headers
          }
        },
        (response) => {
          let answer = ''
          response.setEncoding('utf8')
          response.on('data', (part) => {
            answer += part
          })
          response.on('end', () => resolve({ status: response.statusCode, json: parsed(answer) }))
          response.on('error', () => resolve({ status: 0 }))
        }
      )
      asked.on('timeout', () => asked.destroy())
      asked.on('error', () => resolve({ status: 0 }))
      asked.end(text)
    })
  }

  post(path, body, headers) {
    return this.ask('POST', path, { body, headers })
  }

  close() {
    this.#agent.destroy()
  }
}

export function holder(name) {
  return { instance: `${name}/stable`, install: name, host: name, channel: 'stable', version: '1.0.0' }
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
