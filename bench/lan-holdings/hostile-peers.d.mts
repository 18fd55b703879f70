import type { Peer } from '../../packages/lan-tier/src/index.js'

export interface HostilePeers {
  readonly peers: readonly Peer[]
  readonly open: number
  close(): Promise<void>
}

export function startHostilePeers(
  count: number,
  random: () => number,
  onAnswer?: () => void
): Promise<HostilePeers>
