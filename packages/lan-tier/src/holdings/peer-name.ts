/** A peer without its key, for results, logs and sentences. */
import { leaseHostname } from '@agentmux/lease-model'
import type { Peer } from '../peers/peer.js'
import type { PeerName } from './lan-look.js'

export function peerName({ instanceId, hostname, address, port }: Peer): PeerName {
  return { instanceId, hostname: leaseHostname(hostname), address, port }
}

export function isPeer(name: PeerName, peer: Peer): boolean {
  return name.instanceId === peer.instanceId && name.address === peer.address && name.port === peer.port
}
