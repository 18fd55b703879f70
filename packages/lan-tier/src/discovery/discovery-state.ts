/** How discovery is doing, for `doctor` and `who`. */
import type { LinkReading } from './links.js'

export interface DiscoveryState {
  readonly multicast: 'working' | 'unavailable' | 'off'
  readonly probe: 'listening' | 'unavailable' | 'off'
  /** What stands in the way, as the system's error codes. */
  readonly why?: string
  readonly interfaces: readonly InterfaceState[]
}

export interface InterfaceState {
  readonly name: string
  readonly addresses: readonly string[]
  /** Whether multicast is heard there. */
  readonly joined: boolean
}

export function interfaceStates({ links }: LinkReading, joined: ReadonlySet<string>): InterfaceState[] {
  return links.map(({ name, ipv4, ipv6 }) => ({
    name,
    addresses: [...ipv4.map(({ address }) => address), ...ipv6],
    joined: joined.has(name)
  }))
}

/** The code of a system error, or what it says. */
export function causeCode(cause: unknown): string {
  if (cause === undefined) return 'no interface'
  const { code, message } = cause as { code?: unknown; message?: unknown }
  return String(code ?? message ?? cause)
}
