/** Reads an answer to its end within a bound, so that no connection is left half-read, and says what JSON it holds. */
import type { Readable } from 'node:stream'

export type Body =
  /** `value` is undefined where it is not JSON. */
  { readonly kind: 'read'; readonly value: unknown } | { readonly kind: 'too-large' }

/** @throws what the stream throws when it breaks off. What is over the bound is not read: the connection is closed. */
export async function readBody(stream: Readable, maxBytes: number): Promise<Body> {
  // A body that is left early ends with an error that nobody waits for.
  stream.on('error', () => {})
  const chunks: Buffer[] = []
  let bytes = 0
  // Leaving the loop destroys the stream.
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes) return { kind: 'too-large' }
    chunks.push(chunk)
  }
  return { kind: 'read', value: parsedJson(Buffer.concat(chunks).toString('utf8')) }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
