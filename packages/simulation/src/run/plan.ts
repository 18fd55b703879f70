/**
 * What people and the world do to the hosts in one history: drawn from the seed before it begins, so that a failing history can
 * be told again with less of it.
 */
import { Random } from '../world/random.js'
import type { Deed, PlannedDeed } from './deed.js'
import { faultsOf } from './faults.js'
import { addMessages, MESSAGES_SETTLE_WITHIN_MS } from './message-plan.js'
import { withOlder } from './older-plan.js'
import { type Add, addSituations, type Situation, startApart } from './situations.js'

/** What connects the hosts. `none`: nothing; each is a world of its own. */
export type Tier = 'none' | 'lan' | 'relay'

export interface Shape {
  readonly hosts: number
  readonly agents: number
  /** Drawn from the seed unless given. */
  readonly tier?: Tier
  /** How many daemons are of a build that came before ours. */
  readonly older?: number
  /** Messages for agents, at the relay. */
  readonly messages?: boolean
  /** Nothing but this one is made. */
  readonly situation?: Situation
}

export interface Slot {
  readonly host: number
  readonly channel: string
  readonly version: string
  /** Of a build that came before ours. */
  readonly older?: boolean
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
  /** Agents that nobody closes and that do not end by themselves, with turns so far apart: for counting, not for finding. */
  readonly steady?: { readonly turnEveryMs: number }
  /** It ends before all can have settled: who drives what by then says nothing. */
  readonly unsettled?: boolean
}

/** TTL, a hold, a grace, a watch, and what a retry takes: after this everything has to run again. */
export const SETTLES_WITHIN_MS = 110_000
/** The same, where a refusal of the relay is remembered for 90 s, and a lease there lives for 60. */
const RELAY_SETTLES_WITHIN_MS = 300_000
/** Where nothing but one situation is made. */
const SITUATION_MS = 110_000
const CHANNELS = ['stable', 'beta', 'nightly']

export function planOf(seed: number, shape: Shape): Plan {
  const random = new Random(seed, 7)
  const tier =
    shape.hosts === 1 ? 'none' : (shape.tier ?? tierFor(shape) ?? random.pick(['lan', 'relay'] as const))
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
  const healMs = shape.situation === undefined ? random.int(60_000, 200_000) : SITUATION_MS
  const deeds: PlannedDeed[] = []
  const add = (deed: Deed, atMs: number) => void deeds.push({ atMs, deed })
  const drawn = { seed, shape, tier, accounts, slots, healMs }
  if (shape.situation === undefined) addWhatComes(random, drawn, add)
  addSituations(drawn, add)
  if (shape.messages === true) addMessages(seed, { shape, healMs, add })
  deeds.sort((one, other) => one.atMs - other.atMs)
  const messagesMs = shape.messages === true ? MESSAGES_SETTLE_WITHIN_MS : 0
  const settlesMs = (tier === 'relay' ? RELAY_SETTLES_WITHIN_MS : SETTLES_WITHIN_MS) + messagesMs
  const built = shape.older === undefined ? slots : withOlder(seed, slots, shape.older)
  const plan = { seed, shape, tier, accounts, slots: built, hosts, deeds, healMs }
  if (shape.situation === undefined) return { ...plan, endMs: healMs + settlesMs }
  return { ...plan, endMs: healMs + 1_000, unsettled: true }
}

/** What of the shape needs one tier. */
function tierFor({ messages, older }: Shape): Tier | undefined {
  if (messages === true) return 'relay'
  return older === undefined ? undefined : 'lan'
}

/** What people want of their agents, and what goes wrong. */
function addWhatComes(
  random: Random,
  plan: Pick<Plan, 'seed' | 'shape' | 'tier' | 'accounts' | 'slots' | 'healMs'>,
  addAt: Add
): void {
  const { shape, tier, slots, healMs } = plan
  const add = (deed: Deed, atMs = random.int(0, healMs - 1)) => addAt(deed, atMs)
  const anySlot = () => random.int(0, slots.length - 1)
  const anyAgent = () => random.int(0, shape.agents - 1)
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
  const faults = faultsOf(random, { hosts: shape.hosts, slots: slots.length, tier })
  if (tier !== 'none' && random.chance(0.6)) startApart(random, plan, addAt)
  if (tier === 'relay') {
    for (let count = random.int(0, 4); count > 0; count--) {
      add({ kind: 'take-at-relay', slot: anySlot(), agent: anyAgent() })
    }
  }
  for (let count = random.int(0, 4 + Math.min(16, 2 * shape.hosts)); count > 0; count--)
    add(random.pick(faults)())
}
