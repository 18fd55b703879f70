/** Two computers that drive one agent find out, and one yields within the bound of their tier (R7). */
import type { Host } from '../kernel/host.js'
import type { Computers } from './computers.js'
import type { Seat } from './seat.js'

/** A re-check on the LAN, both looks, the answers' time-outs, and SIGKILL. */
const LAN_BOUND_US = 30_000_000 + 15_000_000
/** A relay TTL, a tick, a request's time-out and its repetition, and SIGKILL. */
const RELAY_BOUND_US = 60_000_000 + 20_000_000 + 25_000_000
const CHECK_EVERY_US = 500_000

export class OverlapRules {
  readonly #computers: Computers
  /** Since when two claims of two hosts have driven one agent. */
  readonly #togetherSinceUs = new Map<string, number>()
  /**
   * When three or more last drove an agent, an older build among them. It looks at two at a time, so who is to stay may change
   * once the third is gone, and whoever has to go then is told by the next re-check.
   */
  readonly #crowdedUs = new Map<string, number>()

  constructor(computers: Computers) {
    this.#computers = computers
    const { world, tier, hosts } = computers
    if (tier !== 'none' && hosts.length > 1) world.after(CHECK_EVERY_US, () => this.#look())
  }

  /** For how long both have driven it under the claims of now, as far as was looked. */
  togetherForUs(uid: string, one: Host, other: Host): number {
    const { nowUs } = this.#computers.world
    return nowUs - (this.#togetherSinceUs.get(this.#keyOf(uid, one, other)) ?? nowUs)
  }

  #look(): void {
    const { world, hosts, agents, seatOf, accountOf, tier, hostsDriving } = this.#computers
    const boundUs = tier === 'lan' ? LAN_BOUND_US : RELAY_BOUND_US
    for (const uid of agents) {
      if (hostsDriving(uid) < 2) continue
      const driving = hosts.filter((host) => seatOf(host, uid).drivers.size > 0)
      if (driving.length > 2 && driving.some((host) => isOlder(seatOf(host, uid)))) {
        this.#crowdedUs.set(uid, world.nowUs)
      }
      for (const [index, one] of driving.entries()) {
        for (const other of driving.slice(index + 1)) {
          if (accountOf(one) === accountOf(other)) this.#together(uid, [one, other], boundUs)
        }
      }
    }
    world.after(CHECK_EVERY_US, () => this.#look())
  }

  #together(uid: string, [one, other]: readonly [Host, Host], boundUs: number): void {
    const { world } = this.#computers
    const key = this.#keyOf(uid, one, other)
    const firstUs = this.#togetherSinceUs.get(key) ?? world.nowUs
    this.#togetherSinceUs.set(key, firstUs)
    const quietUs = this.#computers.quietSinceUs([one, other])
    const forUs = world.nowUs - Math.max(firstUs, quietUs, this.#crowdedUs.get(uid) ?? 0)
    if (forUs > boundUs) {
      world.history.violate(
        'R7',
        `${uid} has been driven on ${one.name} and ${other.name} for ${Math.round(forUs / 1_000)} ms with nothing between them`
      )
    }
  }

  #keyOf(uid: string, one: Host, other: Host): string {
    const { seatOf } = this.#computers
    const claims = [...seatOf(one, uid).drivers.values(), ...seatOf(other, uid).drivers.values()].sort()
    return `${uid} ${one.name} ${other.name} ${[...new Set(claims)].join(' ')}`
  }
}

function isOlder({ drivers, claims }: Seat): boolean {
  return [...drivers.values()].some((claim) => claims.get(claim)?.lease.older === true)
}
