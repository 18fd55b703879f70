/**
 * Stands before every route: turns away web pages, then whoever has no token, then whoever asks too often. Keeps true that no
 * body is read and no handler runs before that, and that a route which does not say who may ask cannot be added.
 */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { tokenHash } from '../model/token.js'
import { callerOf, presentedToken } from './caller.js'
import type { HttpApp } from './http-app.js'
import { HttpError } from './http-error.js'
import type { HttpPorts } from './http-ports.js'
import type { RequestRates } from './request-rates.js'

const REASONS = ['page', 'token', 'rate', 'place'] as const

/** To be called before any route is added. */
export function guardRequests(app: HttpApp, ports: HttpPorts, rates: RequestRates): void {
  const turnedAway = ports.metrics.counter(
    { name: 'agentmux_relay_turned_away_total', help: 'Requests that got to no route.' },
    'because',
    REASONS
  )
  const turnAway = (because: (typeof REASONS)[number], error: HttpError) => {
    turnedAway.add(because)
    return error
  }
  app.decorateRequest('caller', null)
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.opens === undefined) throw new TypeError(`${String(method)} ${url} does not say who may ask`)
  })
  app.addHook('onRequest', async (request) => {
    // No page has business here, and no browser is asked to remember a token.
    if (request.headers.origin !== undefined) throw turnAway('page', new HttpError(403, 'no web pages'))
    const opens = request.is404 ? 'token' : request.routeOptions.config.opens
    if (opens === 'anyone') return
    if (opens === 'this-computer') {
      if (isFromHere(request)) return
      throw turnAway('place', new HttpError(403, 'only on the computer of the relay'))
    }
    const presented = presentedToken(request.headers)
    const token = presented === undefined ? undefined : await ports.store.tokens.find(tokenHash(presented))
    if (token === undefined) throw turnAway('token', new HttpError(401, 'unauthorized'))
    const waitMs = rates.take(token.id, ports.clock.bootMs())
    if (waitMs > 0) throw turnAway('rate', new HttpError(429, 'too many requests', { retryAfterMs: waitMs }))
    request.caller = callerOf(token, request.headers)
  })
}

/** Nobody whom a proxy here has let in from elsewhere. */
function isFromHere({ socket, headers }: FastifyRequest): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false
  return isLoopback(socket.remoteAddress ?? '')
}

export function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/, '')
  return isIP(plain) === 4 ? plain.startsWith('127.') : plain === '::1'
}
