/**
 * Whether a request can have come from a web page. Pure. A page of another site, however its name resolves, is turned away
 * before its key is looked at (R5): a name that was pointed at this computer (DNS rebinding) is seen by its Host, a
 * page elsewhere by its Origin and by what the browser says about the site it belongs to.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

export type ForeignBecause = 'host' | 'origin'

const HOSTS = ['127.0.0.1', 'localhost', '[::1]']
const HTTP_PORT = 80

/** Undefined if nothing speaks against it. `port`: the one we were reached at. */
export function foreignBecause(headers: IncomingHttpHeaders, port: number): ForeignBecause | undefined {
  const host = headers.host?.toLowerCase()
  if (host === undefined || !ourHosts(port).includes(host)) return 'host'
  // A page that we had served could only have this origin; `null` and everything else is another's.
  if (headers.origin !== undefined && headers.origin !== `http://${host}`) return 'origin'
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'none' || site === 'same-origin' ? undefined : 'origin'
}

/**
 * The same for another computer, which may reach us by any address and by our name on the network. A browser is never one
 * of ours: whatever names an origin or a site is turned away.
 */
export function foreignToLanBecause(headers: IncomingHttpHeaders): ForeignBecause | undefined {
  const host = headers.host?.toLowerCase().replace(/:\d{1,5}$/, '') ?? ''
  if (isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0 && !/^[a-z0-9_-]{1,63}\.local\.?$/.test(host))
    return 'host'
  return headers.origin === undefined && headers['sec-fetch-site'] === undefined ? undefined : 'origin'
}

function ourHosts(port: number): string[] {
  const named = HOSTS.map((host) => `${host}:${port}`)
  return port === HTTP_PORT ? [...named, ...HOSTS] : named
}
