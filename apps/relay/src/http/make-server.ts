/** The server under the routes: HTTP, or HTTPS from the given files, whose certificate can be replaced while it runs. */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { Connections } from './connections.js'
import type { HttpLimits } from './http-limits.js'

export interface TlsFiles {
  /** The texts of the files, PEM. */
  readonly cert: string
  readonly key: string
}

export function makeServer(
  listener: RequestListener,
  limits: HttpLimits,
  { tls, connections }: { readonly tls?: TlsFiles | undefined; readonly connections: Connections }
): Server {
  const options: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.requestTimeoutMs,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.max(10, Math.min(1_000, limits.requestTimeoutMs / 4)),
    noDelay: true
  }
  const server: Server | TlsServer =
    tls === undefined
      ? createServer(options, listener)
      : createTlsServer(
          { ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: limits.requestTimeoutMs },
          listener
        )
  server.maxConnections = limits.connections
  server.on('clientError', connections.refuse)
  connections.watch(server)
  return server as Server
}

/** @throws what node:tls throws; the old certificate stays then. */
export function replaceCertificate(server: Server, tls: TlsFiles): void {
  if ('setSecureContext' in server)
    (server as Server as TlsServer).setSecureContext({ ...tls, minVersion: 'TLSv1.2' })
}
