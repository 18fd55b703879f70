/** A peer without its key, for results, logs and sentences. */
import { leaseHostname } from '@agentmux/lease-model'
import type { Peer } from '../peers/peer.js'
import type { PeerName } from './lan-look.js'

export function peerName({ instanceId, hostname, address, port }: Peer): PeerName {
  return { instanceId, hostname: leaseHostname(hostname), address, port }
}

/** The same for the same peer, another for any other: of a table that has each of them once. */
export function nameKey({ instanceId, address, port }: PeerName): string {
  return `${address} ${port} ${instanceId}`
}
