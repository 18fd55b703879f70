/**
 * What people and the world do to the hosts in one history: drawn from the seed before it begins, so that a failing history can
 * be told again with less of it.
 */
import { Random } from '../world/random.js'

export interface Shape {
  readonly hosts: number
  readonly agents: number
}

export type Deed =
  | { readonly kind: 'open' | 'close' | 'take-over'; readonly slot: number; readonly agent: number }
  | { readonly kind: 'kill'; readonly slot: number; readonly afterCalls: number; readonly restartMs: number }
  | { readonly kind: 'stop'; readonly slot: number; readonly forMs: number }
  | { readonly kind: 'pause'; readonly slot: number; readonly afterCalls: number; readonly forMs: number; readonly whole: boolean }
  | { readonly kind: 'step-wall'; readonly host: number; readonly byMs: number }
  | { readonly kind: 'sleep'; readonly host: number; readonly forMs: number }
  | { readonly kind: 'power-cut'; readonly host: number; readonly forMs: number }
  | { readonly kind: 'bad-disk'; readonly host: number; readonly fault: 'ENOSPC' | 'EIO'; readonly forMs: number }
  | { readonly kind: 'stuck-disk'; readonly host: number; readonly forMs: number }

export interface PlannedDeed {
  readonly atMs: number
  readonly deed: Deed
}

export interface Slot {
  readonly host: number
  readonly channel: string
  readonly version: string
}

export interface Plan {
  readonly seed: number
  readonly shape: Shape
  readonly slots: readonly Slot[]
  readonly hosts: readonly { readonly drift: number; readonly skewMs: number }[]
  readonly deeds: readonly PlannedDeed[]
  /** After this nothing is done to anybody any more. */
  readonly healMs: number
  readonly endMs: number
}

/** TTL, a hold, a grace, a watch, and what a retry takes: after this everything has to run again. */
export const SETTLES_WITHIN_MS = 110_000
const CHANNELS = ['stable', 'beta', 'nightly']

export function planOf(seed: number, shape: Shape): Plan {
  const random = new Random(seed, 7)
  const slots: Slot[] = []
  for (let host = 0; host < shape.hosts; host++) {
    const count = shape.hosts > 4 ? 1 : random.int(2, 3)
    for (let index = 0; index < count; index++) {
      slots.push({ host, channel: CHANNELS[random.chance(0.2) ? 0 : index] ?? 'stable', version: '1.0.0' })
    }
  }
  const hosts = Array.from({ length: shape.hosts }, () => ({
    drift: (random.float() - 0.5) * 4e-4,
    skewMs: random.chance(0.4) ? random.int(-400_000, 400_000) : random.int(-500, 500)
  }))
  const healMs = random.int(60_000, 200_000)
  const deeds: PlannedDeed[] = []
  const add = (deed: Deed, atMs = random.int(0, healMs - 1)) => void deeds.push({ atMs, deed })
  const anySlot = () => random.int(0, slots.length - 1)
  const anyAgent = () => random.int(0, shape.agents - 1)
  const anyHost = () => random.int(0, shape.hosts - 1)
  for (let agent = 0; agent < shape.agents; agent++) {
    add({ kind: 'open', slot: anySlot(), agent }, random.int(0, 3_000))
    if (random.chance(0.7)) add({ kind: 'open', slot: anySlot(), agent }, random.int(0, 20_000))
  }
  for (let count = random.int(2, 6 + shape.agents); count > 0; count--) {
    add({ kind: random.pick(['open', 'open', 'close', 'take-over', 'take-over'] as const), slot: anySlot(), agent: anyAgent() })
  }
  const faults: (() => Deed)[] = [
    () => ({ kind: 'kill', slot: anySlot(), afterCalls: random.int(0, 200), restartMs: random.int(50, 30_000) }),
    () => ({ kind: 'kill', slot: anySlot(), afterCalls: random.int(0, 200), restartMs: random.int(50, 30_000) }),
    () => ({ kind: 'stop', slot: anySlot(), forMs: lasting(random) }),
    () => ({ kind: 'pause', slot: anySlot(), afterCalls: random.int(0, 300), forMs: lasting(random), whole: random.chance(0.6) }),
    () => ({ kind: 'pause', slot: anySlot(), afterCalls: random.int(0, 300), forMs: lasting(random), whole: random.chance(0.6) }),
    () => ({ kind: 'step-wall', host: anyHost(), byMs: random.pick([-1, 1]) * random.int(1_000, 4_000_000) }),
    () => ({ kind: 'sleep', host: anyHost(), forMs: lasting(random) * 2 }),
    () => ({ kind: 'power-cut', host: anyHost(), forMs: random.int(3_000, 20_000) }),
    () => ({ kind: 'bad-disk', host: anyHost(), fault: random.pick(['ENOSPC', 'EIO'] as const), forMs: random.int(100, 20_000) }),
    () => ({ kind: 'stuck-disk', host: anyHost(), forMs: random.int(500, 25_000) })
  ]
  for (let count = random.int(0, 4 + 2 * shape.hosts); count > 0; count--) add(random.pick(faults)())
  deeds.sort((one, other) => one.atMs - other.atMs)
  return { seed, shape, slots, hosts, deeds, healMs, endMs: healMs + SETTLES_WITHIN_MS }
}

function lasting(random: Random): number {
  return random.chance(0.5) ? random.int(50, 8_000) : random.int(8_000, 45_000)
}

export function describe(deed: Deed): string {
  const { kind, ...rest } = deed
  return `${kind} ${Object.entries(rest)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')}`
}
