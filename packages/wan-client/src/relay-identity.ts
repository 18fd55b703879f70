/** Who we are at the relay. Two processes with the same identity are one holder. */
import { headerText } from './header-text.js'

export interface RelayIdentity {
  /** This computer's host label: `hostLabel(os.hostname())` of `@agentmux/lease-model`. */
  readonly host: string
  readonly channel: string
  readonly version: string
  /** A UUID kept by the app per channel and shared root: the same instance name with another one is another holder. */
  readonly install: string
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** @throws TypeError if a field is empty or `install` is no UUID. */
export function checkedIdentity(identity: RelayIdentity): RelayIdentity {
  const { host, channel, version, install } = identity
  for (const [name, value] of Object.entries({ host, channel, version })) {
    if (typeof value !== 'string' || value.trim() === '' || /[\p{Cc}\p{Cs}]/u.test(value)) {
      throw new TypeError(`identity.${name} must be a text that is not empty and has no control characters`)
    }
  }
  if (typeof install !== 'string' || !UUID.test(install)) {
    throw new TypeError(
      'identity.install must be a UUID: make one with crypto.randomUUID() once, and keep it'
    )
  }
  return { host: host.trim().toLowerCase(), channel, version, install: install.toLowerCase() }
}

/** `<host label>/<channel>` (PROTOCOL.md 1). */
export function instanceIdOf(identity: RelayIdentity): string {
  return `${identity.host}/${identity.channel}`
}

/** The headers that say so on every request. `X-Agent-Install` is ours: where no body carries it. */
export function identityHeaders(identity: RelayIdentity): Record<string, string> {
  return { 'x-agent-instance': headerText(instanceIdOf(identity)), 'x-agent-install': identity.install }
}
