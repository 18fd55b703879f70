/**
 * When the losers of a tie-break look again: the last in rank first, one slot each, so that whoever looks later sees who
 * has yielded meanwhile and the best of them is the one that is left if the winner goes.
 */

/** Ranks beyond share the first slot: others can make themselves any number of contenders, and nobody waits for them. */
export const SECOND_LOOK_SLOTS = 8
/** A question on a network takes a few milliseconds; a slot holds it with room for a busy computer. */
export const SECOND_LOOK_SLOT_MS = 300

/** `rank`: how many are before us; `contenders`: how many there are, ourselves included; `random`: 0 up to 1. */
export function secondLookWaitMs(rank: number, contenders: number, random: number): number {
  const last = Math.min(contenders - 1, SECOND_LOOK_SLOTS)
  const slot = Math.max(0, last - rank)
  return (slot + random) * SECOND_LOOK_SLOT_MS
}

/** Before a winner that gave no usable answer is asked once more. */
export function retryWaitMs(random: number): number {
  return (1 + random) * SECOND_LOOK_SLOT_MS
}
