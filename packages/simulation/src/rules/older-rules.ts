/**
 * What still holds where a build that came before ours takes part. It judges by the wall clock, ends no process of a claim and
 * knows no hold: so it may take a lease that lives and drive beside what runs under it. But only for as long as whoever lost
 * needs to find out; and ours never do that to it.
 */
import type { Host } from '../kernel/host.js'
import type { Process } from '../kernel/process.js'
import type { World } from '../world/world.js'
import type { Claim, Seat } from './seat.js'

const TTL_US = 15_000_000
const CLOCK_SLACK_US = 50_000
/** A renewal that finds another owner, and what drives the agent ended: 5 s, 13 s, and a slow machine. */
const BESIDE_US = 20_000_000
const CHECK_EVERY_US = 500_000

export interface OlderRulesParts {
  readonly world: World
  readonly hosts: readonly Host[]
  readonly agents: readonly string[]
  readonly seatOf: (host: Host, uid: string) => Seat
  readonly quietSinceUs: (host: Host) => number
}

export class OlderRules {
  readonly #parts: OlderRulesParts
  /** Since when two claims of one host have driven an agent, one of them of an older build. */
  readonly #besideSinceUs = new Map<string, number>()
  /** When something of a host was last seen in the way of finding out: it has no thread beside the one that stands still. */
  readonly #troubledUs = new Map<Host, number>()

  constructor(parts: OlderRulesParts) {
    this.#parts = parts
    parts.world.after(CHECK_EVERY_US, () => this.#look())
  }

  #look(): void {
    const { world, hosts, agents, seatOf } = this.#parts
    for (const host of hosts) {
      if (isTroubled(host)) this.#troubledUs.set(host, world.nowUs)
      for (const uid of agents) this.#besideEachOther(host, seatOf(host, uid))
    }
    world.after(CHECK_EVERY_US, () => this.#look())
  }

  #besideEachOther(host: Host, seat: Seat): void {
    const claims = [...new Set(seat.drivers.values())].sort()
    if (claims.length < 2) return
    const { world, quietSinceUs } = this.#parts
    const key = `${host.name} ${seat.uid} ${claims.join(' ')}`
    const firstUs = this.#besideSinceUs.get(key) ?? world.nowUs
    this.#besideSinceUs.set(key, firstUs)
    const forUs = world.nowUs - Math.max(firstUs, quietSinceUs(host), this.#troubledUs.get(host) ?? 0)
    if (forUs <= BESIDE_US) return
    world.history.violate(
      'R1',
      `${seat.uid} has been driven twice on ${host.name} for ${Math.round(forUs / 1_000)} ms, by an older build and another`
    )
  }
}

function isTroubled({ disk, processes, world }: Host): boolean {
  if (disk.fault !== undefined) return true
  return [...processes.values()].some(({ threadHeldUpUntilUs }) => threadHeldUpUntilUs > world.nowUs)
}

/** Ours take an older build's lease only when its process is gone, or when nothing was written for a TTL. */
export function mayTakeFromOlder(
  world: World,
  process: Process,
  { uid, claim }: { uid: string; claim: Claim }
): void {
  const agoUs = world.nowUs - claim.writtenUs
  if (!claim.process.alive || agoUs >= TTL_US - CLOCK_SLACK_US) return
  world.history.violate(
    'R1',
    `${process.label} takes ${uid} from ${claim.process.label} of an older build, which lives and renewed it ${Math.round(agoUs / 1_000)} ms ago`
  )
}
