/** The body of a small request: JSON within a limit, or the status that says why not. The server bounds its time. */
import type { IncomingMessage } from 'node:http'
import { readJsonObject } from '../http/json-object.js'

export type JsonBody =
  | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'refused'; readonly status: 400 | 413 | 415; readonly error: string }
  /** The one who asks is gone. */
  | { readonly kind: 'broken' }

const MAX_BYTES = 64 * 1024

export async function readJsonBody(request: IncomingMessage): Promise<JsonBody> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json') return { kind: 'refused', status: 415, error: 'application/json required' }
  const tooLarge: JsonBody = { kind: 'refused', status: 413, error: 'body too large' }
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return tooLarge
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) return tooLarge
      chunks.push(chunk)
    }
  } catch {
    return { kind: 'broken' }
  }
  const read = readJsonObject(Buffer.concat(chunks).toString('utf8'))
  if (read.kind === 'wrong') return { kind: 'refused', status: 400, error: read.error }
  return { kind: 'json', value: read.value }
}
