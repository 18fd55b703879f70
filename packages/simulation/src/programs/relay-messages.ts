/**
 * The messages of the relay in its simulated process: the real routes, and the real wake stream on a pipe of the simulated
 * network. What is asked and answered is told to the rules.
 */
import type { Clock } from '@agentmux/lease-model'
import type { NetPipe } from '../world/net-pipe.js'
import type { CallerSeen, RelayApp } from './relay.js'
import type { NetworkResponse, System } from './system.js'

interface Wakes {
  readonly isFull: (token: unknown) => boolean
}
interface WakePorts {
  readonly clock: Clock
  readonly store: unknown
  readonly metrics: { readonly gauge: () => void }
}

export interface MessageParts {
  readonly HTTP_LIMITS: object
  readonly addMessageRoutes: (app: RelayApp, ports: { store: unknown; clock: Clock }, limits: object) => void
  readonly addWakeRoute: (app: RelayApp, wakes: Wakes) => void
  readonly Wakes: new (ports: WakePorts, limits: object) => Wakes
}

interface MessagePorts {
  readonly system: System
  readonly parts: MessageParts
  readonly store: object
  readonly clock: Clock
}

interface Asked {
  readonly caller: CallerSeen
  readonly asker: unknown
  readonly body: unknown
  readonly status: number
  readonly value: object
}

const WAKE = '/reactive/wake'
const CALLS = {
  '/reactive/inject': 'inject',
  '/reactive/pending/': 'pending',
  '/reactive/ack': 'ack',
  '/reactive/release': 'give-back'
} as const

export function serveMessages(app: RelayApp, { system, parts, store, clock }: MessagePorts) {
  parts.addMessageRoutes(app, { store, clock }, parts.HTTP_LIMITS)
  // Whoever reads may go on reading: tokens are not this world's question.
  const reading = { ...store, tokens: { find: async () => ({}) } }
  const wakes = new parts.Wakes({ clock, store: reading, metrics: { gauge: () => {} } }, parts.HTTP_LIMITS)
  parts.addWakeRoute(app, wakes)

  return {
    WAKE,

    tell(path: string, { caller, asker, body, status, value }: Asked): void {
      const call = CALLS[path as keyof typeof CALLS]
      if (call === undefined) return
      const { agent, target_agent, message, injection_id } = body as Record<string, string | undefined>
      system.tell({
        kind: 'message-call',
        call,
        account: caller.token?.account ?? '',
        agent: agent ?? target_agent ?? caller.agent ?? '',
        holder: `${caller.instance} ${caller.install}`,
        requestKey: caller.requestKey ?? '',
        status,
        ids: status === 200 ? idsIn(value as Answered, injection_id) : [],
        text: message ?? '',
        asker
      })
    },

    wake(
      handler: ((request: unknown, reply: unknown) => unknown) | undefined,
      { caller, headers }: { caller: CallerSeen; headers: object }
    ): NetworkResponse {
      if (handler === undefined) return { status: 404, body: '{}' }
      const pipe = system.pipe()
      const reply = { hijack() {}, getHeaders: () => ({}), raw: responseOn(pipe) }
      try {
        handler({ caller, headers, socket: { setTimeout() {} } }, reply)
      } catch (fault) {
        return { status: (fault as { statusCode?: number }).statusCode ?? 500, body: '{}' }
      }
      return { status: 200, body: '', pipe }
    }
  }
}

interface Answered {
  readonly injection_id?: string
  readonly acknowledged?: readonly string[]
  readonly injections?: readonly { readonly id: string }[]
}

function idsIn(value: Answered, givenBack: string | undefined): string[] {
  const { injection_id, acknowledged, injections } = value
  if (acknowledged !== undefined) return [...acknowledged]
  if (injections !== undefined) return injections.map(({ id }) => id)
  return [injection_id ?? givenBack ?? '']
}

/** As much of a ServerResponse as a wake stream uses. What is written is never kept waiting here. */
function responseOn(pipe: NetPipe) {
  return {
    writableLength: 0,
    on(event: string, listener: () => void) {
      if (event === 'close') pipe.onClose(listener)
    },
    writeHead() {},
    write: (text: string) => pipe.write(text),
    end: () => pipe.end(),
    destroy: () => pipe.end()
  }
}
