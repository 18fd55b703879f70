/** Messages that people, and agents, leave for agents in one history, and what befalls whoever has one in his hands. */
import { Random } from '../world/random.js'
import type { Deed } from './deed.js'
import { drawFate } from './message-fate.js'
import type { Shape } from './plan.js'

/** Behind the wake messages are looked for every 120 s; after failed deliveries as often. */
export const MESSAGES_SETTLE_WITHIN_MS = 180_000

interface Making {
  readonly shape: Shape
  readonly healMs: number
  readonly add: (deed: Deed, atMs: number) => void
}

/** From a chance of its own: without messages a plan is what it was. */
export function addMessages(seed: number, { shape, healMs, add }: Making): void {
  const random = new Random(seed, 11)
  // Copies come late, and nothing is lost: what was settled is asked for again.
  if (random.chance(0.3)) add({ kind: 'bad-network', badness: 0, forMs: healMs - 6_000 }, 5_000)
  const anyAgent = () => random.int(0, shape.agents - 1)
  for (let count = random.int(3, 8 + 2 * shape.agents); count > 0; count--) {
    const atMs = random.int(2_000, healMs - 1)
    const to = anyAgent()
    for (let burst = random.chance(0.3) ? random.int(2, 4) : 1; burst > 0; burst--) {
      const from = random.chance(0.4) ? { from: anyAgent() } : {}
      const fate = random.chance(0.35) ? { fate: drawFate(random) } : {}
      add({ kind: 'message', host: random.int(0, shape.hosts - 1), to, ...from, ...fate }, atMs)
    }
  }
}
