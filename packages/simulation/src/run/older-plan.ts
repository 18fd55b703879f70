/** Which of the daemons are of a build that came before ours. */
import { Random } from '../world/random.js'
import type { Slot } from './plan.js'

/** The earlier one writes no claim id. */
const OLDER_VERSIONS = ['0.8.0', '0.9.0'] as const

/** From a chance of its own: without older builds a plan is what it was. At least one is ours. */
export function withOlder(seed: number, slots: readonly Slot[], count: number): Slot[] {
  const random = new Random(seed, 13)
  const chosen = new Set<number>()
  while (chosen.size < Math.min(count, slots.length - 1)) chosen.add(random.int(0, slots.length - 1))
  return slots.map((slot, index) =>
    chosen.has(index) ? { ...slot, version: random.pick(OLDER_VERSIONS), older: true } : slot
  )
}
