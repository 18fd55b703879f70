/** Peers on the network, who of them drives an agent, and who yields when two do. */
export type { DiscoveryEvent, DiscoveryFault } from './discovery/discovery-event.js'
export { type DiscoveryPorts, SYSTEM_PORTS } from './discovery/discovery-ports.js'
export type { DiscoveryState, InterfaceState } from './discovery/discovery-state.js'
export { DISCOVERY_TIMINGS, type DiscoveryTimings } from './discovery/discovery-timings.js'
export { type DiscoveryOptions, LanDiscovery } from './discovery/lan-discovery.js'
export { isLoopback, isNearby, isReachableHost } from './peers/address-kinds.js'
export type { Peer } from './peers/peer.js'
export type { PeerClaim } from './peers/peer-claim.js'
export {
  PEER_LIMITS,
  PEER_TABLE_TIMINGS,
  type PeerChange,
  type PeerSighting,
  PeerTable,
  type PeerTableOptions,
  type PeerTableTimings
} from './peers/peer-table.js'
export { peerWins, SIMULTANEOUS_WITHIN_MS } from './tie-break/peer-wins.js'
