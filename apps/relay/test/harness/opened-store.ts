/** A store as the contract suite drives it: with time that can be let pass, and a relay that can be restarted. */
import type { AgentKey } from '../../src/model/agent-key.js'
import type { HolderChange, RelayStore } from '../../src/store/relay-store.js'
import type { StoreLimits } from '../../src/store/store-limits.js'

export interface OpenedStore {
  /** The one of now: after a restart it is another. */
  readonly store: RelayStore
  /** In the order in which they were told, over all restarts. */
  readonly changes: readonly HolderChange[]
  /** Returns once nobody has this agent, because nobody renewed it. */
  lapse(key: AgentKey): Promise<void>
  /** Ends the relay and starts it again; returns within less than one TTL. */
  restart(): Promise<void>
  /** The same, but it is down for longer than a TTL. */
  stayDown(): Promise<void>
  /** Steps the wall clock alone. */
  stepWall(ms: number): void
  close(): Promise<void>
}

export type OpenStore = (limits?: Partial<StoreLimits>) => Promise<OpenedStore>
