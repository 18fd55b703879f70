/** Which processes may be signalled on the word of a claim (R15). */
import type { RemainsBecause } from '@agentmux/refusals'

/**
 * Why a process that carries the claim must not be signalled; undefined if it may.
 *
 * `untouchable`: pid 1, ourselves and our ancestors.
 */
export function whyNotSignal(
  entry: { readonly pid: number; readonly uid: number },
  untouchable: ReadonlySet<number>
): RemainsBecause | undefined {
  if (entry.pid <= 1 || untouchable.has(entry.pid)) return 'protected'
  return isOurUser(entry.uid) ? undefined : 'another-user'
}

/** Where users are not known at all (Windows), every process is taken for ours; nothing is found there anyway. */
export function isOurUser(uid: number): boolean {
  const us = process.geteuid?.()
  return us === undefined || uid === us
}
