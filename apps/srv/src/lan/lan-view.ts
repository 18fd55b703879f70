/** The LAN as `GET /api/v1/lan` shows it: who is there, where we are heard, and what stands in the way. No key is in it (R16). */
import type { DiscoveryState, Peer } from '@agentmux/lan-tier'

export interface LanView {
  readonly enabled: boolean
  /** Whether a LAN secret is set, so that only signed answers count. */
  readonly signed: boolean
  /** Where other computers reach us. */
  readonly addresses: readonly string[]
  readonly multicast: DiscoveryState['multicast']
  readonly probe: DiscoveryState['probe']
  readonly why?: string
  readonly interfaces: DiscoveryState['interfaces']
  /** Peers that did not count in the last look at all of them because they did not sign. */
  readonly unsigned: number
  readonly peers: readonly PeerView[]
  /** How many there are; `peers` holds the first of them. */
  readonly peer_count: number
}

export interface PeerView {
  readonly instance_id: string
  readonly hostname: string
  readonly channel: string
  readonly version: string
  readonly address: string
  readonly port: number
}

export interface LanViewSources {
  readonly signed: boolean
  /** Absent while it is off. */
  readonly on?: {
    readonly discovery: DiscoveryState
    readonly addresses: readonly string[]
    readonly unsigned: number
    readonly peers: readonly Peer[]
  }
}

const MAX_SHOWN = 100

export function lanView({ signed, on }: LanViewSources): LanView {
  if (on === undefined) {
    return {
      enabled: false,
      signed,
      addresses: [],
      multicast: 'off',
      probe: 'off',
      interfaces: [],
      unsigned: 0,
      peers: [],
      peer_count: 0
    }
  }
  const { discovery, addresses, unsigned, peers } = on
  return {
    enabled: true,
    signed,
    addresses,
    ...discovery,
    unsigned,
    peers: peers.slice(0, MAX_SHOWN).map(peerView),
    peer_count: peers.length
  }
}

function peerView({ instanceId, hostname, channel, version, address, port }: Peer): PeerView {
  return { instance_id: instanceId, hostname, channel, version, address, port }
}
