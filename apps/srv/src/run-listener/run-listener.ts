/**
 * How others on this computer reach a `run`: a server on loopback with a key of its own, found through the reactive
 * registry. It comes up in the background after the command has started, and a `run` that cannot have one goes on
 * without: then only the person at it can end it.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AgentRegistration, ReactiveRegistry } from '@agentmux/host-admission'
import { answerTo, type RunRoutesPorts } from './run-routes.js'

export interface RunListenerPorts extends Omit<RunRoutesPorts, 'key' | 'registered'> {
  readonly registry: ReactiveRegistry
  readonly channel: string
  /** Told why others cannot reach this run. */
  readonly onFault: (fault: unknown) => void
}

const HEADER_BYTES = 16 * 1024
const REQUEST_TIMEOUT_MS = 10_000
const MAX_CONNECTIONS = 64
/** What is said is a few bytes: whoever has not taken them by then does not listen. */
const FLUSH_MS = 1_000

export class RunListener {
  readonly #ports: RunListenerPorts
  readonly #server: Server
  readonly #key = randomBytes(32).toString('hex')
  readonly #answering = new Set<Promise<void>>()
  #registration: AgentRegistration | undefined
  #isClosed = false

  constructor(ports: RunListenerPorts) {
    this.#ports = ports
    this.#server = createServer(
      {
        maxHeaderSize: HEADER_BYTES,
        headersTimeout: REQUEST_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS
      },
      (request, response) => this.#track(this.#answer(request, response))
    )
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#server.on('error', (fault) => ports.onFault(fault))
    this.#server.on('listening', () => this.#publish())
    this.#server.listen({ port: 0, host: '127.0.0.1' })
    this.#server.unref()
  }

  /** Takes the registration back and lets answers out that have been given. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#registration?.remove()
    this.#server.close()
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS)
    })
    await Promise.race([Promise.all(this.#answering), enough])
    clearTimeout(timer)
    this.#server.closeAllConnections()
  }

  #publish(): void {
    if (this.#isClosed) return
    const { registry, channel, lease } = this.#ports
    const { port } = this.#server.address() as AddressInfo
    const { name, uid } = lease.agent
    registry.sweep()
    this.#registration = registry.register(
      { channel, localUrl: `http://127.0.0.1:${port}`, authKey: this.#key },
      { agentName: name ?? uid, blockId: lease.blockId }
    )
  }

  #track(answering: Promise<void>): void {
    this.#answering.add(answering)
    void answering.finally(() => this.#answering.delete(answering))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, uid } = this.#ports.lease.agent
    const registered = () => ({ agentName: name ?? uid, nonce: this.#registration?.nonce ?? 0 })
    const answer = await answerTo(request, response, { ...this.#ports, key: this.#key, registered }).catch(
      // Whatever somebody sends, the command goes on.
      () => ({ status: 500, body: { error: 'internal error' } })
    )
    if (answer === undefined || response.destroyed) return
    const text = JSON.stringify(answer.body)
    await new Promise<void>((resolve) => {
      response.once('close', resolve)
      response.writeHead(answer.status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        connection: 'close'
      })
      response.end(text, resolve)
    })
  }
}
