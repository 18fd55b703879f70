/** The times of discovery, in milliseconds. The defaults are the protocol's; tests shorten them. */
import { PEER_TABLE_TIMINGS, type PeerTableTimings } from '../peers/peer-table.js'

export interface DiscoveryTimings extends PeerTableTimings {
  /** Interfaces are read again this often. */
  readonly watchMs: number
  /** The second browse query follows the first after this; each further one after twice as long, up to the cap. */
  readonly browseFirstMs: number
  readonly browseCapMs: number
  /** No two browse queries closer than this, however many peers are about to expire. */
  readonly browseFloorMs: number
  /** TTL of our host's addresses and of where we listen. */
  readonly hostTtlMs: number
  /** TTL of our name and description. */
  readonly serviceTtlMs: number
}

export const DISCOVERY_TIMINGS: DiscoveryTimings = {
  ...PEER_TABLE_TIMINGS,
  watchMs: 20_000,
  browseFirstMs: 1_000,
  browseCapMs: 300_000,
  browseFloorMs: 10_000,
  hostTtlMs: 120_000,
  serviceTtlMs: 4_500_000
}
