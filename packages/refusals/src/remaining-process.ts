/** A process of an agent's previous claim that is still there, and why it was not or could not be ended (R12, R15). */
export const REMAINS_BECAUSE = Object.freeze([
  'another-user',
  'protected',
  'untrusted-lease',
  'unverified',
  'survived'
] as const)

/**
 * - `another-user`: it is not ours to signal
 * - `protected`: it is pid 1, ourselves, or what started us
 * - `untrusted-lease`: others can write the lease, so its word is not enough to signal anything
 * - `unverified`: whether it carries the claim could not be checked
 * - `survived`: it was killed and is still there
 */
export type RemainsBecause = (typeof REMAINS_BECAUSE)[number]

export interface RemainingProcess {
  readonly pid: number
  /** Its command line; empty if unknown. */
  readonly command: string
  readonly because: RemainsBecause
}
