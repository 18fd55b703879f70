/** Other instances on the network: real HTTP servers that answer as the protocol says, as an older build, or as told. */
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  claimHash,
  type LanSecret,
  NONCE_HEADER,
  type OwnLease,
  type Peer,
  SIGNATURE_HEADER,
  signAnswer
} from '../src/index.js'

export interface PeerServerOptions {
  readonly host?: string
  readonly hostname?: string
  readonly secret?: LanSecret
  /** What it drives; may change between questions. */
  readonly held?: ReadonlyMap<string, OwnLease>
  readonly isYielding?: (uid: string) => boolean
  /** Knows only the question for one agent, says no claim, signs nothing. */
  readonly older?: boolean
  /** Answers instead of all of that. */
  readonly answer?: RequestListener
}

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface PeerServer extends AsyncDisposable {
  readonly peer: Peer
  readonly requests: readonly SeenRequest[]
  /** Connections that are open now. */
  readonly open: ReadonlySet<Socket>
}

let count = 0

export async function peerServer(options: PeerServerOptions = {}): Promise<PeerServer> {
  const { host = '127.0.0.1', hostname = 'barn' } = options
  const number = count++
  const authKey = `key-of-${number}`
  const requests: SeenRequest[] = []
  const open = new Set<Socket>()
  const server: Server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      requests.push({ method, url, headers, body })
      if (options.answer) return options.answer(request, response)
      const { status, value } = answerTo({ method, url, headers, body }, options, authKey)
      const text = JSON.stringify(value)
      const nonce = headers[NONCE_HEADER]
      const signature =
        options.secret !== undefined && !options.older && typeof nonce === 'string'
          ? signAnswer(options.secret, { nonce, path: url, body: text })
          : undefined
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(signature === undefined ? {} : { [SIGNATURE_HEADER]: signature })
      })
      response.end(text)
    })
  })
  server.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, 256, () => resolve())
  })
  const { port } = server.address() as AddressInfo
  return {
    peer: peerAt({ address: host, port, authKey, hostname, instanceId: `instance-${number}` }),
    requests,
    open,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export function peerAt(of: Partial<Peer> & { readonly address: string; readonly port: number }): Peer {
  return {
    instanceId: 'instance',
    hostname: 'barn',
    version: '0.44.1',
    channel: 'stable',
    addresses: [of.address],
    authKey: 'key',
    agents: [],
    firstSeenMs: 1,
    lastSeenMs: 1,
    ...of
  }
}

function answerTo(
  { method, url, headers, body }: SeenRequest,
  options: PeerServerOptions,
  authKey: string
): { status: number; value: unknown } {
  if (headers['x-authkey'] !== authKey) return { status: 401, value: { error: 'unauthorized' } }
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  if (method === 'GET' && pathname === '/agentmux/agent/holding') {
    return { status: 200, value: holding(searchParams.get('uid') ?? '', options) }
  }
  if (method === 'POST' && pathname === '/agentmux/agent/holdings' && !options.older) {
    const { uids } = JSON.parse(body) as { readonly uids: readonly string[] }
    return {
      status: 200,
      value: { holdings: Object.fromEntries(uids.map((uid) => [uid, holding(uid, options)])) }
    }
  }
  return { status: 404, value: { error: 'not found' } }
}

function holding(uid: string, { held, hostname = 'barn', older, isYielding }: PeerServerOptions) {
  const lease = held?.get(uid)
  if (lease === undefined) return { held: false, hostname, channel: '', version: '', acquired_at_ms: 0 }
  const common = {
    held: true,
    hostname: lease.hostname,
    channel: 'stable',
    version: '0.44.1',
    acquired_at_ms: lease.acquiredAtMs
  }
  if (older) return common
  return { ...common, claim: claimHash(lease.claimId), ...(isYielding?.(uid) ? { yielding: true } : {}) }
}
