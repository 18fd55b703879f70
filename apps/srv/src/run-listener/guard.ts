/**
 * Who may ask at all: a program on this computer that calls us by a loopback name, comes from no web page, and knows the
 * key. Everybody else is turned away before anything of the request is read (R5, R16).
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export interface Denial {
  readonly status: 401 | 403
  readonly error: string
}

/** Whether the request may come in. A page whose name was pointed at loopback sends its own name as the host. */
export function comesFromHere(headers: IncomingHttpHeaders, port: number): Denial | undefined {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`)
  if (!hosts.includes((headers.host ?? '').toLowerCase())) return { status: 403, error: 'forbidden host' }
  const { origin } = headers
  if (origin !== undefined && !hosts.some((host) => origin.toLowerCase() === `http://${host}`)) {
    return { status: 403, error: 'forbidden origin' }
  }
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'none' && site !== 'same-origin') {
    return { status: 403, error: 'forbidden origin' }
  }
  return undefined
}

/** Takes the same time whatever is presented: two hashes are compared. */
export function knowsKey(headers: IncomingHttpHeaders, key: string): Denial | undefined {
  const presented = headers['x-authkey']
  const isKey = timingSafeEqual(hashOf(typeof presented === 'string' ? presented : ''), hashOf(key))
  return isKey ? undefined : { status: 401, error: 'unauthorized' }
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
