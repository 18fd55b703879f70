/**
 * Who of any number keeps the agent, as the protocol says it; written anew here, so that the packages are not judged by
 * themselves. Host names in a world are unequal, and the starts are numbers.
 */

export interface Starter {
  readonly atMs: number
  readonly host: string
}

const SIMULTANEOUS_MS = 10_000

/** The lowest host name among those that began less than ten seconds after the first. */
export function stays(one: Starter, others: readonly Starter[]): boolean {
  const all = [one, ...others]
  const firstMs = Math.min(...all.map(({ atMs }) => atMs))
  const simultaneous = all.filter(({ atMs }) => atMs - firstMs < SIMULTANEOUS_MS)
  const names = simultaneous.map(({ host }) => host).sort()
  return simultaneous.includes(one) && names[0] === one.host
}
