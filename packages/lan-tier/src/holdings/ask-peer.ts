/**
 * One request to a peer and its answer, whole and within its size, or why there is none. Sends that peer's key and no other,
 * follows no redirect, believes no status but 200; with a secret, no body that is not signed for this very request.
 */
import type { Pool } from 'undici'
import type { SilentBecause } from './lan-look.js'
import type { LanSecret } from './lan-secret.js'
import { freshNonce, NONCE_HEADER, SIGNATURE_HEADER, verifyAnswer } from './signature.js'
import { silenceOf } from './silence-of.js'

export interface PeerRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The key that the peer advertises. */
  readonly key: string
  readonly body?: unknown
  readonly maxBytes: number
}

export type PeerReply =
  | { readonly kind: 'json'; readonly value: unknown }
  /** It does not know the route. */
  | { readonly kind: 'no-route' }
  | { readonly kind: 'silent'; readonly why: SilentBecause }

export interface AskPeerPorts {
  readonly pool: Pool
  readonly secret: LanSecret | undefined
  /** Its abort is `timed-out`: whoever aborts for another reason looks at his own signal. */
  readonly signal: AbortSignal
}

/** Never rejects. */
export async function askPeer(request: PeerRequest, ports: AskPeerPorts): Promise<PeerReply> {
  try {
    return await ask(request, ports)
  } catch (fault) {
    return { kind: 'silent', why: ports.signal.aborted ? 'timed-out' : silenceOf(fault) }
  }
}

async function ask(request: PeerRequest, { pool, secret, signal }: AskPeerPorts): Promise<PeerReply> {
  const nonce = secret === undefined ? undefined : freshNonce()
  const answer = await pool.request({
    method: request.method,
    path: request.path,
    headers: {
      'x-authkey': request.key,
      ...(nonce === undefined ? {} : { [NONCE_HEADER]: nonce }),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' })
    },
    body: request.body === undefined ? null : JSON.stringify(request.body),
    signal
  })
  if (answer.statusCode !== 200) {
    answer.body.on('error', () => {}).destroy()
    return ofStatus(answer.statusCode, secret)
  }
  const body = await wholeBody(answer.body, request.maxBytes)
  if (body === undefined) return { kind: 'silent', why: 'too-large' }
  if (secret !== undefined && nonce !== undefined) {
    const signature = answer.headers[SIGNATURE_HEADER]
    if (signature === undefined) return { kind: 'silent', why: 'unsigned' }
    if (!verifyAnswer(secret, { nonce, path: request.path, body }, signature)) {
      return { kind: 'silent', why: 'bad-signature' }
    }
  }
  const value = parsedJson(body)
  return value === undefined ? { kind: 'silent', why: 'bad-answer' } : { kind: 'json', value }
}

function ofStatus(status: number, secret: LanSecret | undefined): PeerReply {
  if (status === 401) return { kind: 'silent', why: 'unauthorized' }
  if (status !== 404 && status !== 405) return { kind: 'silent', why: 'bad-answer' }
  // Who does not know the route is too old to sign, and nothing that it could say would count.
  return secret === undefined ? { kind: 'no-route' } : { kind: 'silent', why: 'unsigned' }
}

/** Undefined if there is more of it than allowed; the rest is not read then. */
async function wholeBody(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function parsedJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
