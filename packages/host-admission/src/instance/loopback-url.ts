/** Which addresses of another instance are believed: http on this computer's loopback, and nothing else. */

const MAX_LENGTH = 256

/**
 * The origin of an address; undefined if it is not http on 127.0.0.0/8, [::1] or localhost. A path is dropped; an
 * address with a user or a password is a disguise.
 */
export function loopbackOrigin(address: string): string | undefined {
  if (address.length > MAX_LENGTH || !URL.canParse(address)) return undefined
  const url = new URL(address)
  if (url.protocol !== 'http:' || url.username !== '' || url.password !== '') return undefined
  return isLoopback(url.hostname) ? url.origin : undefined
}

/** `hostname` as URL writes it: numbers in any notation have become four decimal ones. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
