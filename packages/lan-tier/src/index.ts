/** Peers on the network, who of them drives an agent, and who yields when two do. */
export type { Peer } from './peers/peer.js'
export { peerWins, SIMULTANEOUS_WITHIN_MS } from './tie-break/peer-wins.js'
