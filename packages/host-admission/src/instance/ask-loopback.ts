/**
 * One HTTP request to an instance on this computer. It goes straight to loopback: no proxy, no name service, no kept
 * connection, no redirect followed. Time and size are bounded, an abort ends it at once, and nothing is left behind.
 */
import type { RequestOptions } from 'node:http'
import type { LookupFunction } from 'node:net'
import type { Clock } from '@agentmux/lease-model'
import { parsedJson } from '../json-fields.js'
import type { InstanceEndpoint } from './instance-endpoint.js'

export interface LoopbackRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** From the first packet to the last byte of the answer. */
  readonly timeoutMs: number
  readonly maxBytes: number
}

export interface LoopbackPorts {
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

export type LoopbackAnswer =
  /** `body` is undefined where it is not JSON. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'no-answer'; readonly why: NoAnswer }

export type NoAnswer =
  /** Nothing listens there. */
  | 'refused'
  | 'timed-out'
  | 'too-large'
  /** The connection broke, or what came was not HTTP. */
  | 'broken'

const MAX_HEADER_BYTES = 16 * 1024

/** @throws the signal's reason when aborted. */
export function askLoopback(
  endpoint: InstanceEndpoint,
  asked: LoopbackRequest,
  { clock, signal }: LoopbackPorts
): Promise<LoopbackAnswer> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    // Loaded by the first question: most holders never ask one, and a command must not start later for it.
    const { request: send } = process.getBuiltinModule('node:http')
    const payload = asked.body === undefined ? undefined : Buffer.from(JSON.stringify(asked.body))
    const request = send(new URL(asked.path, endpoint.url), optionsOf(endpoint, asked, payload))

    const finish = (settle: () => void) => {
      cancelTimer()
      signal?.removeEventListener('abort', onAbort)
      // An error that this causes is heard below and changes nothing: the promise is settled.
      request.destroy()
      settle()
    }
    const give = (answer: LoopbackAnswer) => finish(() => resolve(answer))
    const onAbort = () => finish(() => reject(signal?.reason))
    const cancelTimer = clock.after(asked.timeoutMs, () => give({ kind: 'no-answer', why: 'timed-out' }))
    signal?.addEventListener('abort', onAbort, { once: true })

    request.on('error', (error) => give({ kind: 'no-answer', why: isRefusal(error) ? 'refused' : 'broken' }))
    request.on('close', () => give({ kind: 'no-answer', why: 'broken' }))
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let bytes = 0
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > asked.maxBytes) give({ kind: 'no-answer', why: 'too-large' })
        else chunks.push(chunk)
      })
      response.on('error', () => give({ kind: 'no-answer', why: 'broken' }))
      response.on('end', () => {
        const body = parsedJson(Buffer.concat(chunks).toString('utf8'))
        give({ kind: 'answered', status: response.statusCode ?? 0, body })
      })
    })
    request.end(payload)
  })
}

function optionsOf(
  endpoint: InstanceEndpoint,
  asked: LoopbackRequest,
  payload: Buffer | undefined
): RequestOptions {
  return {
    method: asked.method,
    // A connection of its own: one that is kept could belong to a process that is gone.
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    lookup: loopbackAddresses,
    headers: {
      accept: 'application/json',
      ...(endpoint.authKey === '' ? {} : { 'x-authkey': endpoint.authKey }),
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': payload.length })
    }
  }
}

/** The only name that gets here is localhost, and what it means is not for a name service to say. */
const loopbackAddresses: LookupFunction = (_name, options, callback) => {
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 }
  ]
  if (options.all) callback(null, addresses)
  else callback(null, '127.0.0.1', 4)
}

/** Several addresses were tried for localhost: the first error tells. */
function isRefusal(error: Error): boolean {
  const first = error instanceof AggregateError ? error.errors[0] : error
  return first instanceof Error && 'code' in first && first.code === 'ECONNREFUSED'
}
