/**
 * How others on this computer reach a `run`: a server on loopback with a key of its own, found through the reactive
 * registry. It comes up in the background after the command has started, and a `run` that cannot have one goes on
 * without: then only the person at it can end it.
 */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentRegistration, ReactiveRegistry } from '@agentmux/host-admission'
import { type Answer, answerTo, type RunRoutesPorts } from './run-routes.js'

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
  readonly #sending = new Set<Promise<void>>()
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
      (request, response) => void this.#answer(request, response)
    )
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#server.on('error', (fault) => ports.onFault(fault))
    this.#server.on('listening', () => this.#publish())
    this.#server.listen({ port: 0, host: '127.0.0.1' })
    this.#server.unref()
  }

  /** Takes the registration back and lets answers out that have been given. Whoever is still asking is cut off. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#registration?.remove()
    this.#server.close()
    // What was answered just now is being sent from then on.
    await nextTurn()
    let timer: NodeJS.Timeout | undefined
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, FLUSH_MS)
    })
    await Promise.race([Promise.all(this.#sending), enough])
    clearTimeout(timer)
    this.#server.closeAllConnections()
  }

  #publish(): void {
    if (this.#isClosed) return
    const { registry, channel, lease, onFault } = this.#ports
    const { port } = this.#server.address() as AddressInfo
    const { name, uid } = lease.agent
    try {
      registry.sweep()
      this.#registration = registry.register(
        { channel, localUrl: `http://127.0.0.1:${port}`, authKey: this.#key },
        { agentName: name ?? uid, blockId: lease.blockId }
      )
    } catch (fault) {
      onFault(fault)
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { name, uid } = this.#ports.lease.agent
    const registered = () => ({ agentName: name ?? uid, nonce: this.#registration?.nonce ?? 0 })
    const answer = await answerTo(request, response, { ...this.#ports, key: this.#key, registered }).catch(
      // Whatever somebody sends, the command goes on.
      () => ({ status: 500, body: { error: 'internal error' } })
    )
    if (answer === undefined || response.destroyed) return
    const sending = send(response, answer)
    this.#sending.add(sending)
    await sending
    this.#sending.delete(sending)
  }
}

function send(response: ServerResponse, { status, body }: Answer): Promise<void> {
  const text = JSON.stringify(body)
  return new Promise((resolve) => {
    response.once('close', resolve)
    response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      connection: 'close'
    })
    response.end(text, resolve)
  })
}
