/** The computers of one world, what lies between them, and since when nothing has stood in anybody's way. */
import type { Host } from '../kernel/host.js'
import type { Network } from '../world/network.js'
import type { World } from '../world/world.js'
import type { Claim, Seat } from './seat.js'

export interface ComputersOptions {
  readonly world: World
  readonly network: Network
  readonly hosts: readonly Host[]
  readonly tier: 'none' | 'lan' | 'relay'
  readonly accountOf: (host: Host) => string
  readonly relayHost: Host
  readonly seatOf: (host: Host, uid: string) => Seat
  readonly agents: readonly string[]
  /** On how many hosts an agent is driven. */
  readonly hostsDriving: (uid: string) => number
}

export class Computers {
  readonly world: World
  readonly hosts: readonly Host[]
  readonly tier: 'none' | 'lan' | 'relay'
  readonly accountOf: (host: Host) => string
  readonly seatOf: (host: Host, uid: string) => Seat
  readonly agents: readonly string[]
  readonly hostsDriving: (uid: string) => number
  /** When the relay last came up. */
  relayDisturbedUs = 0
  /** Until when something that was killed is not back. */
  disturbedUs = 0
  readonly #network: Network
  readonly #relayHost: Host

  constructor(options: ComputersOptions) {
    const { world, network, hosts, tier, accountOf, relayHost, seatOf, agents, hostsDriving } = options
    this.world = world
    this.hosts = hosts
    this.tier = tier
    this.accountOf = accountOf
    this.seatOf = seatOf
    this.agents = agents
    this.hostsDriving = hostsDriving
    this.#network = network
    this.#relayHost = relayHost
  }

  /** What stands in the agent's lease file there. */
  claimOf(host: Host, uid: string): Claim | undefined {
    const { nowUs } = this.world
    return [...this.seatOf(host, uid).claims.values()].find(({ untilUs }) => untilUs >= nowUs)
  }

  quietSinceUs(hosts: readonly Host[], { network: ofNetwork = true }: { network?: boolean } = {}): number {
    const { nowUs } = this.world
    let sinceUs = Math.min(this.disturbedUs, nowUs)
    const later = (us: number) => {
      sinceUs = Math.max(sinceUs, us)
    }
    for (const host of hosts) {
      later(host.asleep || !host.up ? nowUs : host.disturbedUs)
      for (const process of host.processes.values()) {
        if (process.threads.length === 0) continue
        later(process.stopped ? nowUs : process.heldUpUntilUs)
        later(process.starvedUntilUs)
      }
      if (ofNetwork)
        for (const other of hosts) if (other !== host) later(this.#network.soundSinceUs(host, other))
      if (this.tier === 'relay') {
        later(this.#network.soundSinceUs(host, this.#relayHost))
        later(this.relayDisturbedUs)
      }
      later(Math.min(host.disk.stuckUntilUs, nowUs))
    }
    return sinceUs
  }
}
