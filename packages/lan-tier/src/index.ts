/** Peers on the network, who of them drives an agent, and who yields when two do. */
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
export type { Peer } from './peers/peer.js'
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
