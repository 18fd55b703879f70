/**
 * The counter beside a lease: the highest epoch ever given for its key (R10). It is only ever replaced, whole, by
 * a higher value, and it outlives the lease.
 */
import { MISSING, readText, replaceFile } from './small-file.js'

/** Beyond this a number is not exact, so a counter at or above it is damage. */
const LARGEST = Number.MAX_SAFE_INTEGER - 1

/** The counter; undefined if it is missing or is not one decimal integer below 2^53-1. */
export function readEpoch(path: string): number | undefined {
  const file = readText(path)
  if (file === MISSING || file.kind !== 'text') return undefined
  if (!/^\d{1,16}\n?$/.test(file.text)) return undefined
  const epoch = Number(file.text)
  return epoch <= LARGEST ? epoch : undefined
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
 * One more than everything known. A key has its counter from its creation, so one without was damaged: then also
 * above the Unix time in seconds, which no counter that goes up by one per claim has reached.
 */
export function nextEpoch(sources: EpochSources): number {
  const known = Math.max(
    sources.counter ?? 0,
    Math.min(sources.lease, LARGEST),
    Math.min(sources.floor, LARGEST)
  )
  if (sources.counter !== undefined) return known + 1
  return Math.max(known, Math.floor(sources.wallMs / 1_000)) + 1
}

/** Writes the counter; the caller has checked that it grows. On the disk before this returns, but for the folder. */
export function writeEpoch(path: string, epoch: number): void {
  replaceFile(path, `${epoch}\n`)
}
