/**
 * What people and the world do to the hosts in one history: drawn from the seed before it begins, so that a failing history can
 * be told again with less of it.
 */
import { Random } from '../world/random.js'

/** What connects the hosts. `none`: nothing; each is a world of its own. */
export type Tier = 'none' | 'lan' | 'relay'

export interface Shape {
  readonly hosts: number
  readonly agents: number
  /** Drawn from the seed unless given. */
  readonly tier?: Tier
}

export type Deed =
  | { readonly kind: 'open' | 'close' | 'take-over'; readonly slot: number; readonly agent: number }
  | { readonly kind: 'kill'; readonly slot: number; readonly afterCalls: number; readonly restartMs: number }
  | { readonly kind: 'stop'; readonly slot: number; readonly forMs: number }
  | {
      readonly kind: 'pause'
      readonly slot: number
      readonly afterCalls: number
      readonly forMs: number
      readonly whole: boolean
    }
  | { readonly kind: 'take-at-relay'; readonly slot: number; readonly agent: number }
  | { readonly kind: 'cut'; readonly host: number; readonly other: number; readonly forMs: number }
  | { readonly kind: 'bad-network'; readonly badness: number; readonly forMs: number }
  | { readonly kind: 'relay-down'; readonly forMs: number }
  | { readonly kind: 'step-wall'; readonly host: number; readonly byMs: number }
  | { readonly kind: 'sleep'; readonly host: number; readonly forMs: number }
  | { readonly kind: 'power-cut'; readonly host: number; readonly forMs: number }
  | {
      readonly kind: 'bad-disk'
      readonly host: number
      readonly fault: 'ENOSPC' | 'EIO'
      readonly forMs: number
    }
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
  readonly tier: Tier
  /** The account of each host at the relay. */
  readonly accounts: readonly string[]
  readonly slots: readonly Slot[]
  readonly hosts: readonly { readonly drift: number; readonly skewMs: number }[]
  readonly deeds: readonly PlannedDeed[]
  /** After this nothing is done to anybody any more. */
  readonly healMs: number
  readonly endMs: number
  /** Without the programs that use the store alone. */
  readonly alone?: boolean
}

/** TTL, a hold, a grace, a watch, and what a retry takes: after this everything has to run again. */
export const SETTLES_WITHIN_MS = 110_000
/** The same, where a refusal of the relay is remembered for 90 s, and a lease there lives for 60. */
const RELAY_SETTLES_WITHIN_MS = 300_000
const CHANNELS = ['stable', 'beta', 'nightly']

export function planOf(seed: number, shape: Shape): Plan {
  const random = new Random(seed, 7)
  const tier = shape.hosts === 1 ? 'none' : (shape.tier ?? random.pick(['lan', 'relay'] as const))
  const twoAccounts = random.chance(0.3)
  const accounts = Array.from({ length: shape.hosts }, (_each, host) =>
    twoAccounts && host % 2 === 1 ? 'bob' : 'alice'
  )
  const slots: Slot[] = []
  for (let host = 0; host < shape.hosts; host++) {
    const count = shape.hosts > 1 ? (random.chance(0.7) ? 1 : 2) : random.int(2, 3)
    for (let index = 0; index < count; index++) {
      slots.push({
        host,
        channel: CHANNELS[shape.hosts === 1 && random.chance(0.2) ? 0 : index] ?? 'stable',
        version: '1.0.0'
      })
    }
  }
  const hosts = Array.from({ length: shape.hosts }, () => ({
    drift: (random.float() - 0.5) * 4e-4,
    skewMs: random.chance(shape.hosts > 1 ? 0.2 : 0.4) ? random.int(-400_000, 400_000) : random.int(-500, 500)
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
    add({
      kind: random.pick(['open', 'open', 'close', 'take-over', 'take-over'] as const),
      slot: anySlot(),
      agent: anyAgent()
    })
  }
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
      return {
        kind: 'cut',
        host,
        other: (host + random.int(1, shape.hosts - 1)) % shape.hosts,
        forMs: lasting(random)
      }
    }
    faults.push(cut, cut, () => ({ kind: 'bad-network', badness: random.float(), forMs: lasting(random) }))
    if (random.chance(0.6)) startApart(random, { shape, slots, healMs, tier, add })
  }
  if (tier === 'relay') {
    const down = (): Deed => ({
      kind: 'relay-down',
      forMs: random.chance(0.5) ? random.int(500, 20_000) : random.int(20_000, 120_000)
    })
    faults.push(down, down, () => ({ kind: 'cut', host: anyHost(), other: -1, forMs: lasting(random) * 2 }))
    for (let count = random.int(0, 4); count > 0; count--) {
      add({ kind: 'take-at-relay', slot: anySlot(), agent: anyAgent() })
    }
  }
  for (let count = random.int(0, 4 + Math.min(16, 2 * shape.hosts)); count > 0; count--)
    add(random.pick(faults)())
  deeds.sort((one, other) => one.atMs - other.atMs)
  const settlesMs = tier === 'relay' ? RELAY_SETTLES_WITHIN_MS : SETTLES_WITHIN_MS
  return { seed, shape, tier, accounts, slots, hosts, deeds, healMs, endMs: healMs + settlesMs }
}

/** The hosts do not see each other, and the same agent is started on several of them, a few seconds apart. */
function startApart(
  random: Random,
  {
    shape,
    slots,
    healMs,
    tier,
    add
  }: {
    shape: Shape
    slots: readonly Slot[]
    healMs: number
    tier: Tier
    add: (deed: Deed, atMs: number) => void
  }
): void {
  const atMs = random.int(4_000, Math.max(5_000, healMs - 60_000))
  const hosts = Math.min(shape.hosts, 4)
  for (let host = 0; host < hosts; host++) {
    for (let other = tier === 'relay' ? -1 : host + 1; other < hosts; other++) {
      if (other !== host) add({ kind: 'cut', host, other, forMs: 45_000 }, atMs)
    }
  }
  const agent = random.int(0, shape.agents - 1)
  const gapMs = random.pick([0, 3_000, 6_000, 9_000])
  for (let host = 0; host < hosts; host++) {
    const slot = slots.findIndex((each) => each.host === host)
    add({ kind: 'open', slot, agent }, atMs + 1_000 + (hosts - host) * gapMs + random.int(0, 900))
  }
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
