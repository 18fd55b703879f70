/** What can go wrong, drawn one by one: with processes, hosts, disks, and what connects them. */
import type { Random } from '../world/random.js'
import type { Deed } from './deed.js'
import type { Tier } from './plan.js'

export interface Targets {
  readonly hosts: number
  readonly slots: number
  readonly tier: Tier
}

export function faultsOf(random: Random, { hosts, slots, tier }: Targets): (() => Deed)[] {
  const anySlot = () => random.int(0, slots - 1)
  const anyHost = () => random.int(0, hosts - 1)
  const faults: (() => Deed)[] = [
    () => ({
      kind: 'kill',
      slot: anySlot(),
      afterCalls: random.int(0, 200),
      restartMs: random.int(50, 30_000)
    }),
    () => ({
      kind: 'kill',
      slot: anySlot(),
      afterCalls: random.int(0, 200),
      restartMs: random.int(50, 30_000)
    }),
    () => ({ kind: 'stop', slot: anySlot(), forMs: lasting(random) }),
    () => ({
      kind: 'pause',
      slot: anySlot(),
      afterCalls: random.int(0, 300),
      forMs: lasting(random),
      whole: random.chance(0.6)
    }),
    () => ({
      kind: 'pause',
      slot: anySlot(),
      afterCalls: random.int(0, 300),
      forMs: lasting(random),
      whole: random.chance(0.6)
    }),
    () => ({ kind: 'step-wall', host: anyHost(), byMs: random.pick([-1, 1]) * random.int(1_000, 4_000_000) }),
    () => ({ kind: 'sleep', host: anyHost(), forMs: lasting(random) * 2 }),
    () => ({ kind: 'power-cut', host: anyHost(), forMs: random.int(3_000, 20_000) }),
    () => ({
      kind: 'bad-disk',
      host: anyHost(),
      fault: random.pick(['ENOSPC', 'EIO'] as const),
      forMs: random.int(100, 20_000)
    }),
    () => ({ kind: 'stuck-disk', host: anyHost(), forMs: random.int(500, 25_000) })
  ]
  if (tier !== 'none') {
    const cut = (): Deed => {
      const host = anyHost()
      return { kind: 'cut', host, other: (host + random.int(1, hosts - 1)) % hosts, forMs: lasting(random) }
    }
    faults.push(cut, cut, () => ({ kind: 'bad-network', badness: random.float(), forMs: lasting(random) }))
  }
  if (tier === 'relay') {
    const down = (): Deed => ({
      kind: 'relay-down',
      forMs: random.chance(0.5) ? random.int(500, 20_000) : random.int(20_000, 120_000)
    })
    faults.push(down, down, () => ({ kind: 'cut', host: anyHost(), other: -1, forMs: lasting(random) * 2 }))
  }
  return faults
}

function lasting(random: Random): number {
  return random.chance(0.5) ? random.int(50, 8_000) : random.int(8_000, 45_000)
}
