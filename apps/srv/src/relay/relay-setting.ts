/** Which relay, and as whom. */
import type { RelayToken } from './relay-token.js'

export interface RelaySetting {
  readonly url: string
  readonly allowInsecureUrl?: boolean
  readonly host: string
  readonly channel: string
  readonly version: string
  /** Of this channel and shared root. */
  readonly install: string
  readonly token: RelayToken
  /** For a relay of another TTL than the protocol's, in tests. */
  readonly renewEveryMs?: number | undefined
  /** For jitter; Math.random unless given. */
  readonly random?: () => number
}
