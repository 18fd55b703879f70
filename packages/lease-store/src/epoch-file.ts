/**
 * The counter beside a lease: the highest epoch ever given for its key (R10). It is only ever replaced, whole, by
 * a higher value, and it outlives the lease.
 */
import { createUnlessThere, replaceFile } from './durable-file.js'
import { readText } from './small-file.js'

/**
 * More than claims ever come to, one a microsecond for a hundred years: what says more is damaged (R10). Half of what a
 * number holds exactly, so that damage just below that is seen for what it is and not followed to where no epoch is left.
 */
export const LARGEST_EPOCH = 2 ** 52

/** The counter; undefined if it is missing or damaged: not one decimal integer, or above the largest epoch. */
export function readEpoch(path: string): number | undefined {
  const file = readText(path)
  if (file.kind !== 'text' || !/^\d{1,16}\n?$/.test(file.text)) return undefined
  const epoch = Number(file.text)
  return epoch <= LARGEST_EPOCH ? epoch : undefined
}

export interface EpochSources {
  /** The counter file's value; undefined if damaged or missing. */
  readonly counter: number | undefined
  /** The epoch in the lease file that is being replaced; 0 if there is none. */
  readonly lease: number
  /** The highest epoch the caller has seen elsewhere, in the shared record say; 0 if none. */
  readonly floor: number
  readonly wallMs: number
}

/**
 * One more than everything known. A key has its counter from its creation, so one without was damaged, and so was
 * whatever wrote an epoch above the largest: then also above the Unix time in seconds, which no counter that goes up by
 * one per claim has reached. Above `LARGEST_EPOCH` where that one is known: then nothing may be granted.
 */
export function nextEpoch({ counter, lease, floor, wallMs }: EpochSources): number {
  const damaged = counter === undefined || lease > LARGEST_EPOCH
  const known = Math.max(counter ?? 0, lease > LARGEST_EPOCH ? 0 : lease, floor)
  return (damaged ? Math.max(known, Math.floor(wallMs / 1_000)) : known) + 1
}

/** Writes the counter; the caller has checked that it grows. On the disk before this returns, but for the folder. */
export function writeEpoch(path: string, epoch: number): void {
  replaceFile(path, `${epoch}\n`)
}

/** The counter of a key that was never used. One that is there already, another build's say, stays. */
export function createEpoch(path: string): void {
  createUnlessThere(path, '0\n')
}
