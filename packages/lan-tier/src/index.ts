/** Peers on the network, who of them drives an agent, and who yields when two do. */

export type { DiscoveryEvent, DiscoveryFault } from './discovery/discovery-event.js'
export { type DiscoveryPorts, SYSTEM_PORTS } from './discovery/discovery-ports.js'
export type { DiscoveryState, InterfaceState } from './discovery/discovery-state.js'
export { DISCOVERY_TIMINGS, type DiscoveryTimings } from './discovery/discovery-timings.js'
export { type DiscoveryOptions, LanDiscovery } from './discovery/lan-discovery.js'
export { lanHolders } from './holdings/lan-holders.js'
export { HOLDING_TIMEOUT_MS, LanHoldings, type LanHoldingsOptions } from './holdings/lan-holdings.js'
export {
  type LanHolder,
  type LanLook,
  type PeerName,
  SILENT_BECAUSE,
  type SilentBecause,
  type SilentPeer
} from './holdings/lan-look.js'
export { LanSecret, MIN_LAN_SECRET_BYTES } from './holdings/lan-secret.js'
export type { Interfaces, LocalNetworkOptions } from './holdings/local-network.js'
export { claimHash, contenderOf, type OwnLease } from './holdings/own-lease.js'
export {
  freshNonce,
  NONCE_HEADER,
  SIGNATURE_HEADER,
  type SignedAnswer,
  signAnswer,
  verifyAnswer
} from './holdings/signature.js'
export { type LanUnknownBecause, type LanVerdict, verdictOf } from './holdings/verdict.js'
export { FIRST_RECHECK_MS, LanRecheck, type LanRecheckOptions, RECHECK_MS } from './lan-recheck.js'
export { type HeldOnLan, type LanState, LanTier, type LanTierOptions } from './lan-tier.js'
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
export type { Contender } from './tie-break/contender.js'
export { Contest, type ContestOutcome, type ContestStep } from './tie-break/contest.js'
export { decide } from './tie-break/decide.js'
export { peerWins } from './tie-break/peer-wins.js'
export {
  type Ask,
  type ContestOptions,
  type Question,
  type ResolveContestsOptions,
  resolveContest,
  resolveContests
} from './tie-break/resolve-contests.js'
export { SIMULTANEOUS_WITHIN_MS } from './tie-break/start-times.js'
