/**
 * Which relay. The token goes along with every request, so it is https, or http to this computer, unless the app takes
 * the responsibility; and nothing in the address is a secret (R16).
 */

export interface RelayUrlOptions {
  /** The app knows that the way to this relay is safe (a tunnel, a private network). */
  readonly allowInsecure?: boolean | undefined
}

export interface RelayUrl {
  /** `https://relay.example:8443` */
  readonly origin: string
  /** What stands before every route: empty, or `/muxbus`. */
  readonly basePath: string
  /** Whether it is this computer; then no proxy is asked. */
  readonly loopback: boolean
}

/** @throws TypeError that names what is wrong and what to do; it does not repeat credentials. */
export function parseRelayUrl(text: string, options: RelayUrlOptions = {}): RelayUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw new TypeError('the relay URL is no URL: write https://HOST[:PORT]')
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('the relay URL must not hold credentials: remove them, the token is sent in a header')
  }
  const shown = `${url.protocol}//${url.host}`
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new TypeError(`the relay URL must begin with https://, not ${url.protocol}`)
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError(`the relay URL ${shown} must end before any ? or #`)
  }
  const loopback = isLoopback(url.hostname)
  if (url.protocol === 'http:' && !loopback && options.allowInsecure !== true) {
    throw new TypeError(
      `the relay URL ${shown} would send the token unencrypted: use https, or http on loopback only`
    )
  }
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, ''), loopback }
}

/** `localhost`, 127.0.0.0/8 and ::1, as a URL writes them. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
