/**
 * A client of one relay, for one instance: its leases, its messages, its connections. Made once by the app; nothing is
 * sent before the first call, and nothing after `close`.
 */
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import type { Dispatcher } from 'undici'
import { AgentLocks } from './agent-locks.js'
import { connectionsTo } from './connections.js'
import type { LeaseContext } from './lease-context.js'
import { createOpenStream, type OpenStream } from './open-stream.js'
import { RelayCalls, type RelayTrouble, type TokenSource } from './relay-calls.js'
import { checkedIdentity, identityHeaders, type RelayIdentity } from './relay-identity.js'
import { RelayLeases } from './relay-leases.js'
import { RelayMessages } from './relay-messages.js'
import { RelayState } from './relay-state.js'
import { parseRelayUrl, type RelayUrl } from './relay-url.js'
import { createSendRequest } from './send-request.js'
import { type RelaySnapshot, restoreState, snapshotOf } from './snapshot.js'

export interface WanClientOptions {
  /** `$AGENTMUX_MUXBUS_REST_URL`: https, or http on loopback; `allowInsecureUrl` lifts that. */
  readonly url: string
  readonly allowInsecureUrl?: boolean
  readonly identity: RelayIdentity
  /** Called for every request; nothing means that the tier is off. */
  readonly token: TokenSource
}

export interface WanClientPorts {
  readonly clock?: Clock
  /**
   * Whether somebody here wants the agent now, by the name that the relay keeps (`agentKey`). Without it every claim and every
   * release goes through.
   */
  readonly isSubscribed?: (agent: string) => boolean
  /** For the log. */
  readonly onTrouble?: (trouble: RelayTrouble) => void
  /** Where the proxy variables are read, once; `process.env` unless given. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** A number from 0 to below 1, for jitter. */
  readonly random?: () => number
}

export class WanClient {
  readonly leases: RelayLeases
  readonly messages: RelayMessages
  readonly clock: Clock
  readonly random: () => number
  readonly #context: LeaseContext
  readonly #url: RelayUrl
  readonly #env: NonNullable<WanClientPorts['env']>
  readonly #connections: Dispatcher[] = []

  /** @throws TypeError for a URL, an identity or a proxy variable that cannot be used. */
  constructor(options: WanClientOptions, ports: WanClientPorts = {}) {
    const identity = checkedIdentity(options.identity)
    this.#url = parseRelayUrl(options.url, { allowInsecure: options.allowInsecureUrl })
    this.#env = ports.env ?? process.env
    this.clock = ports.clock ?? createSystemClock()
    this.random = ports.random ?? Math.random
    const state = new RelayState(this.clock)
    const calls = new RelayCalls({
      clock: this.clock,
      state,
      send: createSendRequest(this.#transport()),
      token: options.token,
      identityHeaders: identityHeaders(identity),
      random: this.random,
      onTrouble: ports.onTrouble ?? (() => {})
    })
    this.#context = {
      clock: this.clock,
      state,
      calls,
      locks: new AgentLocks(),
      identity,
      isSubscribed: ports.isSubscribed
    }
    this.leases = new RelayLeases(this.#context)
    this.messages = new RelayMessages(this.#context)
  }

  /** How many milliseconds the relay still wants to be left alone; 0 if it does not. */
  pausedForMs(): number {
    return Math.max(0, this.#context.state.pausedUntilMs - this.clock.bootMs())
  }

  /** A stream of the relay on a connection of its own: it may last as long as the client. */
  streamOpener(): OpenStream {
    return createOpenStream({ ...this.#transport(1), calls: this.#context.calls })
  }

  /** Everything the client remembers, as plain data without secrets. */
  snapshot(): RelaySnapshot {
    return snapshotOf(this.#context.state)
  }

  /** Remembers what a snapshot says instead. @throws TypeError if it is none. */
  restore(snapshot: RelaySnapshot): void {
    restoreState(this.#context.state, snapshot)
  }

  /**
   * Ends what is under way, and its connections. Releases nothing at the relay: `leases.release` does. Whatever uses the client
   * is stopped before.
   */
  async close(): Promise<void> {
    this.#context.calls.close()
    await Promise.all(this.#connections.map((dispatcher) => dispatcher.destroy()))
  }

  #transport(connections?: number) {
    const { origin, basePath } = this.#url
    const limits = connections === undefined ? {} : { connections }
    const dispatcher = connectionsTo({ url: this.#url, env: this.#env, ...limits })
    this.#connections.push(dispatcher)
    return { dispatcher, origin, basePath, clock: this.clock }
  }
}
