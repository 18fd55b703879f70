/**
 * The relay in a simulated process: the real store, decisions and routes, behind the simulated network instead of a server. The
 * parts of the app are handed in by whoever bundles this.
 */
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import { type MessageParts, serveMessages } from './relay-messages.js'
import type { NetworkRequest, NetworkResponse, System } from './system.js'

type Schema = { readonly parse: (value: unknown) => unknown }
type RouteHandler = (request: unknown, reply?: unknown) => unknown
export interface RelayApp {
  post(path: string, route: { schema: { body: Schema } }, handler: RouteHandler): void
  get(path: string, route: { schema?: { params: Schema } }, handler: RouteHandler): void
}

export interface RelayParts extends MessageParts {
  readonly openSqliteStore: (options: { dataDir: string; clock: Clock; onChange: () => void }) => {
    leases: unknown
    messages: unknown
  }
  readonly addLeaseRoutes: (app: RelayApp, ports: { store: unknown }) => void
  readonly addRenewBatchRoute: (
    app: RelayApp,
    ports: { store: unknown },
    limits: { batchBytes: number; agentsPerBatch: number }
  ) => void
  readonly callerOf: (token: object, headers: Readonly<Record<string, string>>) => CallerSeen
}

const LIMITS = { batchBytes: 1_000_000, agentsPerBatch: 1_000 }

export function serveRelay(system: System, parts: RelayParts): void {
  const clock = createSystemClock()
  const store = parts.openSqliteStore({ dataDir: '/home/u/relay', clock, onChange: () => {} })
  const posts = new Map<string, { schema: Schema; handler: RouteHandler }>()
  const gets = new Map<string, RouteHandler>()
  const app: RelayApp = {
    post: (path, { schema }, handler) => void posts.set(path, { schema: schema.body, handler }),
    get: (path, _route, handler) => void gets.set(path.replace(':agent', ''), handler)
  }
  parts.addLeaseRoutes(app, { store })
  parts.addRenewBatchRoute(app, { store }, LIMITS)
  const messages = serveMessages(app, { system, parts, store, clock })

  /** A token is the name of its account here: who may have one is not this world's question. */
  async function answer(request: NetworkRequest, asker: unknown): Promise<NetworkResponse> {
    const { method, path, headers, body } = request
    const account = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const token = { id: account, account, agent: '' }
    const caller = { ...parts.callerOf(token, headers), token }
    if (method === 'GET') return look(request, caller, asker)
    const route = posts.get(path)
    if (route === undefined) return { status: 404, body: '{}' }
    const parsed = route.schema.parse(JSON.parse(body ?? '{}'))
    const answered = await outcomeOf(() => route.handler({ caller, body: parsed, headers }))
    if (path.startsWith('/reactive/')) messages.tell(path, { caller, asker, body: parsed, ...answered })
    else tell(path, account, parsed as Body, answered)
    return { status: answered.status, body: JSON.stringify(answered.value) }
  }

  /** A look at a lease changes nothing, and is nobody's news. */
  async function look(
    { path, headers }: NetworkRequest,
    caller: CallerSeen,
    asker: unknown
  ): Promise<NetworkResponse> {
    if (path === messages.WAKE) return messages.wake(gets.get(path), { caller, headers })
    const [, folder = '', agent = ''] = /^(.*\/)([^/]+)$/.exec(path) ?? []
    const handler = gets.get(folder)
    if (handler === undefined) return { status: 404, body: '{}' }
    const params = { agent: decodeURIComponent(agent) }
    const answered = await outcomeOf(() => handler({ caller, params, headers }))
    if (path.startsWith('/reactive/')) messages.tell(folder, { caller, asker, body: params, ...answered })
    return { status: answered.status, body: JSON.stringify(answered.value) }
  }

  async function outcomeOf(run: () => unknown): Promise<{ status: number; value: Value }> {
    try {
      return { status: 200, value: (await run()) as Value }
    } catch (fault) {
      const { status, statusCode, fields, message } = fault as HttpFault
      return { status: statusCode ?? status ?? 500, value: { error: message, ...fields } as Value }
    }
  }

  function tell(
    path: string,
    account: string,
    body: Body,
    { status, value }: { status: number; value: Value }
  ): void {
    const call = path.replace('/agents/lease', '').replace('/', '') || 'claim'
    const common = { kind: 'relay' as const, call, account, holder: `${body.instance} ${body.install ?? ''}` }
    const rows = value.results ?? [
      { agent_id: body.agent_id ?? '', ok: status === 200, epoch: value.epoch ?? 0, held_by: value.held_by }
    ]
    for (const row of rows) {
      const heldBy = row.held_by ? `${row.held_by.host}/${row.held_by.channel}` : ''
      system.tell({
        ...common,
        agent: row.agent_id,
        status: row.ok ? 200 : 409,
        epoch: row.epoch ?? 0,
        heldBy
      })
    }
  }
  system.serve(answer)
}

export interface CallerSeen {
  readonly instance: string
  readonly install: string
  readonly agent?: string | undefined
  readonly requestKey?: string | undefined
  readonly token?: { readonly account: string }
}
interface Body {
  readonly instance: string
  readonly install?: string
  readonly agent_id?: string
}
interface HeldBy {
  readonly host: string
  readonly channel: string
}
interface Value {
  readonly epoch?: number
  readonly held_by?: HeldBy | null
  readonly results?: readonly { agent_id: string; ok: boolean; epoch?: number; held_by?: HeldBy | null }[]
}
interface HttpFault {
  readonly status?: number
  readonly statusCode?: number
  readonly fields?: object
  readonly message: string
}
