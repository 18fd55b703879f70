/**
 * The relay in a simulated process: the real store, decisions and routes, behind the simulated network instead of a server. The
 * parts of the app are handed in by whoever bundles this.
 */
import { type Clock, createSystemClock } from '@agentmux/lease-model'
import type { NetworkRequest, NetworkResponse, System } from './system.js'

type Schema = { readonly parse: (value: unknown) => unknown }
type RouteHandler = (request: unknown) => Promise<unknown>
interface App {
  post(path: string, route: { schema: { body: Schema } }, handler: RouteHandler): void
  get(path: string, route: { schema: { params: Schema } }, handler: RouteHandler): void
}

export interface RelayParts {
  readonly openSqliteStore: (options: { dataDir: string; clock: Clock; onChange: () => void }) => {
    leases: unknown
  }
  readonly addLeaseRoutes: (app: App, ports: { store: unknown }) => void
  readonly addRenewBatchRoute: (
    app: App,
    ports: { store: unknown },
    limits: { batchBytes: number; agentsPerBatch: number }
  ) => void
  readonly callerOf: (
    token: object,
    headers: Readonly<Record<string, string>>
  ) => { instance: string; install: string }
}

const LIMITS = { batchBytes: 1_000_000, agentsPerBatch: 1_000 }

export function serveRelay(system: System, parts: RelayParts): void {
  const store = parts.openSqliteStore({
    dataDir: '/home/u/relay',
    clock: createSystemClock(),
    onChange: () => {}
  })
  const posts = new Map<string, { schema: Schema; handler: RouteHandler }>()
  const app: App = {
    post: (path, { schema }, handler) => void posts.set(path, { schema: schema.body, handler }),
    get: () => {}
  }
  parts.addLeaseRoutes(app, { store })
  parts.addRenewBatchRoute(app, { store }, LIMITS)

  /** A token is the name of its account here: who may have one is not this world's question. */
  async function answer({ method, path, headers, body }: NetworkRequest): Promise<NetworkResponse> {
    const account = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const route = method === 'POST' ? posts.get(path) : undefined
    if (route === undefined) return { status: 404, body: '{}' }
    const caller = {
      ...parts.callerOf({ id: account, account, agent: '' }, headers),
      token: { id: account, account, agent: '' }
    }
    const parsed = route.schema.parse(JSON.parse(body ?? '{}'))
    try {
      const value = await route.handler({ caller, body: parsed, headers })
      tell(path, account, parsed as Body, { status: 200, value: value as Value })
      return { status: 200, body: JSON.stringify(value) }
    } catch (fault) {
      const { status, statusCode, fields, message } = fault as HttpFault
      const code = statusCode ?? status ?? 500
      const value = { error: message, ...fields }
      tell(path, account, parsed as Body, { status: code, value: value as Value })
      return { status: code, body: JSON.stringify(value) }
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
