/**
 * The connections to the relay: our own, bounded in number, closed with the client. Goes through the proxy that the
 * environment names, never for this computer. Follows no redirect and keeps no cookie.
 */
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici'
import type { RelayUrl } from './relay-url.js'

/** Requests that wait for a free connection wait within their own time limit. */
export const MAX_CONNECTIONS = 8
/** A little longer than between two ticks, so that a renewal needs no new handshake. A relay may say less. */
const KEEP_ALIVE_MS = 30_000
const CONNECT_TIMEOUT_MS = 10_000

export interface ConnectionsOptions {
  readonly url: RelayUrl
  /** Where HTTPS_PROXY, HTTP_PROXY and NO_PROXY are read, once. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connections?: number
}

/** @throws TypeError if a proxy variable is no URL. */
export function connectionsTo({ url, env, connections = MAX_CONNECTIONS }: ConnectionsOptions): Dispatcher {
  const options = {
    connections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: { timeout: CONNECT_TIMEOUT_MS }
  }
  const httpProxy = proxyFrom(env, 'http_proxy')
  const httpsProxy = proxyFrom(env, 'https_proxy')
  if (url.loopback || (httpProxy === '' && httpsProxy === '')) return new Agent(options)
  const noProxy = env.no_proxy ?? env.NO_PROXY ?? ''
  return new EnvHttpProxyAgent({ ...options, httpProxy, httpsProxy, noProxy })
}

function proxyFrom(env: ConnectionsOptions['env'], name: string): string {
  const value = (env[name] || env[name.toUpperCase()]) ?? ''
  // Not repeated in the error: a proxy URL may hold a password.
  if (value !== '' && !URL.canParse(value)) {
    throw new TypeError(`${name.toUpperCase()} is no URL: write http://HOST:PORT, or unset it`)
  }
  return value
}
