/** Many computers on which nothing is opened or closed after the first minute, and hardly anything goes wrong. */
import { Random } from '../world/random.js'
import type { Deed, PlannedDeed } from './deed.js'
import type { Plan, Slot, Tier } from './plan.js'

export interface Scale {
  readonly seed: number
  readonly hosts: number
  readonly agents: number
  readonly tier: Exclude<Tier, 'none'>
  /** How long requests are counted. */
  readonly countedMs: number
  readonly faults: number
}

/** By then everything runs and has found its rhythm; what is counted begins after it. */
export const WARM_UP_MS = 90_000
const OPENED_WITHIN_MS = 40_000
const TURN_EVERY_MS = 60_000
/** A fault is over, and mended, before the end. */
const QUIET_AT_THE_END_MS = 150_000

/** Each agent has one home, and as many are on each host as on any other, or one more. */
export function scalePlan({ seed, hosts, agents, tier, countedMs, faults }: Scale): Plan {
  const random = new Random(seed, 11)
  const each = <T>(make: (index: number) => T) => Array.from({ length: hosts }, (_none, index) => make(index))
  const slots: Slot[] = each((host) => ({ host, channel: 'stable', version: '1.0.0' }))
  const deeds: PlannedDeed[] = []
  const openedMs = each(() => random.int(3_000, OPENED_WITHIN_MS))
  for (let agent = 0; agent < agents; agent++) {
    const slot = agent % hosts
    deeds.push({
      atMs: (openedMs[slot] ?? 0) + random.int(0, 1_000),
      deed: { kind: 'open', slot, agent }
    })
  }
  const endMs = WARM_UP_MS + countedMs
  for (let count = 0; count < faults; count++) {
    const atMs = random.int(WARM_UP_MS, Math.max(WARM_UP_MS, endMs - QUIET_AT_THE_END_MS))
    deeds.push({ atMs, deed: fault(random, hosts) })
  }
  deeds.sort((one, other) => one.atMs - other.atMs)
  return {
    seed,
    shape: { hosts, agents, tier },
    tier,
    accounts: each(() => 'alice'),
    slots,
    hosts: each(() => ({ drift: (random.float() - 0.5) * 4e-4, skewMs: random.int(-500, 500) })),
    deeds,
    healMs: endMs,
    endMs,
    steady: { turnEveryMs: TURN_EVERY_MS }
  }
}

function fault(random: Random, hosts: number): Deed {
  const host = random.int(0, hosts - 1)
  const other = (host + random.int(1, hosts - 1)) % hosts
  return random.pick<() => Deed>([
    () => ({ kind: 'kill', slot: host, afterCalls: random.int(0, 200), restartMs: random.int(50, 20_000) }),
    () => ({ kind: 'sleep', host, forMs: random.int(5_000, 30_000) }),
    () => ({ kind: 'power-cut', host, forMs: random.int(3_000, 20_000) }),
    () => ({ kind: 'cut', host, other, forMs: random.int(5_000, 30_000) })
  ])()
}
