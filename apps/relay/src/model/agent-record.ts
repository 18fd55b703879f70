/**
 * What the relay remembers of an agent for ever: the highest epoch given, and who had it. Whether that lease is still
 * alive is not in here: each store knows by its own clock.
 */
import type { Holder } from './holder.js'

/** `lapsed`: nobody renewed it for one TTL. `released`: the holder gave it back. */
export type AgentState = 'held' | 'released' | 'lapsed'

export interface AgentRecord {
  readonly holder: Holder
  readonly state: AgentState
  /** Keys of the latest takes that were granted, the newest last: a repeated take is known by it. */
  readonly takes: readonly string[]
}

/** A record and what the store's clock says of it. */
export interface Seen {
  readonly record: AgentRecord | undefined
  /**
   * The last holder has it: it renewed within one TTL, or the relay was not there to be asked and has come back less than
   * one TTL ago.
   */
  readonly live: boolean
}
