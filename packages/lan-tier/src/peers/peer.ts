/** Another AgentMux instance on the network, as far as its advertisement tells. Anyone can advertise: nothing here is proven. */
export interface Peer {
  readonly instanceId: string
  readonly hostname: string
  readonly version: string
  readonly channel: string
  /** Where it is asked: the first of its addresses, IPv4 before IPv6. */
  readonly address: string
  readonly addresses: readonly string[]
  readonly port: number
  /** Its LAN key. It opens who-holds there and nothing else, and is sent to that peer alone. */
  readonly authKey: string
  /** Names of agents it offers to reach; never proof that it drives them. */
  readonly agents: readonly string[]
  readonly firstSeenMs: number
  readonly lastSeenMs: number
}
