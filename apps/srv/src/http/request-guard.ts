/**
 * Stands before every route and before the answer to an unknown one: turns away web pages of other sites, then whoever has
 * not the key. Keeps true that no body is read and no handler runs before that, and that a route which does not say
 * which keys open it cannot be added at all.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Counter, Metrics } from '../metrics/metrics.js'
import type { AccessKeys, Caller } from './access-keys.js'
import type { HttpApp, Opens, RouteAccess } from './http-app.js'
import { HttpError } from './http-error.js'
import type { ForeignBecause } from './same-site.js'

const REASONS = ['host', 'origin', 'key'] as const
type TurnedAwayBecause = (typeof REASONS)[number]

const ERRORS: Readonly<Record<TurnedAwayBecause, readonly [number, string]>> = {
  host: [403, 'host not allowed'],
  origin: [403, 'origin not allowed'],
  key: [401, 'unauthorized']
}

export interface GuardOptions {
  readonly keys: AccessKeys
  /** Why a request may have come from a web page of another site. `port`: the one we were reached at. */
  readonly foreignBecause: (headers: IncomingHttpHeaders, port: number) => ForeignBecause | undefined
  readonly metrics: Metrics
  /** The counter of those who are turned away. */
  readonly counted: string
}

/** To be called before any route is added. */
export function guardRequests(app: HttpApp, { keys, foreignBecause, metrics, counted }: GuardOptions): void {
  const routes: RouteAccess[] = []
  const turnedAway = metrics.counter(
    { name: counted, help: 'Requests that got to no route.' },
    'because',
    REASONS
  )
  app.decorate('routeAccess', routes)
  app.decorateRequest('caller', 'anyone')
  app.decorateRequest('callerBlockId', '')
  app.addHook('onRoute', ({ method, url, config }) => {
    const opens = config?.opens
    if (opens === undefined) throw new TypeError(`${String(method)} ${url} does not say which keys open it`)
    for (const one of [method].flat()) routes.push({ method: one, path: url, opens })
  })
  app.addHook('onRequest', async (request) => {
    const because = foreignBecause(request.headers, request.socket.localPort ?? 0)
    if (because !== undefined) throw turnAway(turnedAway, because)
    const { caller, blockId = '' } = keys.callerOf(request.headers['x-authkey'])
    request.caller = caller
    request.callerBlockId = blockId
    if (!request.is404 && !isOpen(request.routeOptions.config.opens, caller))
      throw turnAway(turnedAway, 'key')
  })
}

function isOpen(opens: Opens | undefined, caller: Caller): boolean {
  return opens === 'anyone' || (caller !== 'anyone' && opens?.includes(caller) === true)
}

function turnAway(counter: Counter<TurnedAwayBecause>, because: TurnedAwayBecause): HttpError {
  counter.add(because)
  const [status, error] = ERRORS[because]
  return new HttpError(status, error)
}
