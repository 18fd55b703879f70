/**
 * Situations that chance alone rarely makes: each is a handful of deeds that belong together. Where one is made, what else was
 * drawn from the seed stays as it is.
 */
import { Random } from '../world/random.js'
import type { Deed } from './deed.js'
import type { Plan } from './plan.js'

export type Add = (deed: Deed, atMs: number) => void
type Make = (random: Random, plan: Unfinished, add: Add) => void
type Unfinished = Pick<Plan, 'seed' | 'shape' | 'slots' | 'accounts' | 'healMs' | 'tier'>

/** The hosts do not see each other, and the same agent is started on several of them, a few seconds apart. */
export function startApart(random: Random, { shape, slots, healMs, tier }: Unfinished, add: Add): void {
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

export const SITUATIONS = ['taker-dies', 'started-in-turn', 'comes-and-goes', 'taken-to-and-fro'] as const
export type Situation = (typeof SITUATIONS)[number]

/** Whether it can be made at all, how often it is, and how. */
const HOW: Readonly<Record<Situation, { fits: (plan: Unfinished) => boolean; chance: number; make: Make }>> =
  {
    'taker-dies': { fits: ({ tier }) => tier === 'none', chance: 0.3, make: takerDies },
    'started-in-turn': {
      fits: ({ tier, shape }) => tier === 'lan' && shape.hosts >= 3,
      chance: 0.4,
      make: startedInTurn
    },
    'comes-and-goes': { fits: ({ tier }) => tier === 'relay', chance: 0.3, make: comesAndGoes },
    'taken-to-and-fro': { fits: ({ tier }) => tier === 'relay', chance: 0.3, make: takenToAndFro }
  }

/** The one that is asked for, or what the seed says. */
export function addSituations(plan: Unfinished, add: Add): void {
  const random = new Random(plan.seed, 8)
  const { situation } = plan.shape
  for (const name of SITUATIONS) {
    const { fits, chance, make } = HOW[name]
    const drawn = random.chance(chance)
    if (fits(plan) && (situation === undefined ? drawn : situation === name)) make(random, plan, add)
  }
}

/** Somebody takes an agent over, dies on the way, and does not want it any more. */
function takerDies(random: Random, { shape, slots, healMs }: Unfinished, add: Add): void {
  const atMs = random.int(6_000, healMs - 50_000)
  const agent = random.int(0, shape.agents - 1)
  const holder = random.int(0, slots.length - 1)
  const taker = (holder + random.int(1, slots.length - 1)) % slots.length
  add({ kind: 'open', slot: holder, agent }, atMs - 5_000)
  add({ kind: 'take-over', slot: taker, agent }, atMs)
  const diesMs = atMs + random.int(5, 6_000)
  add({ kind: 'kill', slot: taker, afterCalls: random.int(0, 40), restartMs: random.int(100, 2_000) }, diesMs)
  add({ kind: 'close', slot: taker, agent }, diesMs + 1)
}

/**
 * An agent that nobody drives is started on several hosts that do not see each other, the last in name first. After that they
 * all see each other, or all but two, which then do not judge by the same set.
 */
function startedInTurn(random: Random, { shape, slots, healMs }: Unfinished, add: Add): void {
  const atMs = random.int(18_000, Math.max(19_000, healMs - 60_000))
  const hosts = Math.min(shape.hosts, 4)
  const agent = random.int(0, shape.agents - 1)
  for (const slot of slots.keys()) add({ kind: 'close', slot, agent }, atMs - 16_000)
  const pairs: [number, number][] = []
  for (let host = 0; host < hosts; host++)
    for (let other = host + 1; other < hosts; other++) pairs.push([host, other])
  // Mostly those that begin first: they are the ones that matter.
  const apart = random.pick([-1, pairs.length - 1, random.int(0, pairs.length - 1)])
  for (const [index, [host, other]] of pairs.entries()) {
    add({ kind: 'cut', host, other, forMs: index === apart ? 60_000 : 40_000 }, atMs)
  }
  const gapMs = random.int(5_200, 9_000)
  for (let host = 0; host < hosts; host++) {
    const slot = slots.findIndex((each) => each.host === host)
    add({ kind: 'open', slot, agent }, atMs + 1_000 + (hosts - 1 - host) * gapMs)
  }
}

/** A pane is closed and opened again and again, while answers of the relay are late. */
function comesAndGoes(random: Random, { shape, slots, healMs }: Unfinished, add: Add): void {
  const untilMs = healMs - 5_000
  const slot = random.int(0, slots.length - 1)
  const agent = random.int(0, shape.agents - 1)
  add({ kind: 'bad-network', badness: 0, forMs: untilMs - 5_000 }, 5_000)
  let opens = true
  for (let atMs = 5_500; atMs < untilMs; atMs += opens ? random.int(500, 5_000) : random.int(5_000, 20_000)) {
    add({ kind: opens ? 'open' : 'close', slot, agent }, atMs)
    opens = !opens
  }
}

/** Two people move an agent to and fro at the relay, while its answers are late. */
function takenToAndFro(random: Random, { shape, slots, accounts, healMs }: Unfinished, add: Add): void {
  const untilMs = healMs - 5_000
  const one = random.int(0, slots.length - 1)
  const accountOf = (slot: number) => accounts[slots[slot]?.host ?? 0]
  const others = slots
    .map((_slot, index) => index)
    .filter((index) => index !== one && accountOf(index) === accountOf(one))
  const other = others.length === 0 ? one : random.pick(others)
  const agent = random.int(0, shape.agents - 1)
  add({ kind: 'open', slot: one, agent }, 4_000)
  add({ kind: 'bad-network', badness: 0, forMs: untilMs - 5_000 }, 5_000)
  let taker = other
  for (
    let atMs = 8_000;
    atMs < untilMs;
    atMs += taker === one ? random.int(1_000, 12_000) : random.int(3_000, 9_000)
  ) {
    add({ kind: 'take-at-relay', slot: taker, agent }, atMs)
    taker = taker === one ? other : one
  }
}
