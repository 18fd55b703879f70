/** Which processes may be signalled on the word of a lease (R15). */
import { statSync } from 'node:fs'
import type { RemainsBecause } from '@agentmux/refusals'
import type { ProcessEntry } from './process-table.js'

const WRITABLE_BY_OTHERS = 0o022

/** Whether only we and root can have written what stands in these files. */
export function onlyWeCanWrite(paths: readonly string[]): boolean {
  const us = process.geteuid?.()
  if (us === undefined) return true
  return paths.every((path) => {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return true
    return (stats.uid === us || stats.uid === 0) && (stats.mode & WRITABLE_BY_OTHERS) === 0
  })
}

/**
 * Why a process that carries the claim must not be signalled; undefined if it may.
 *
 * `untouchable`: pid 1, ourselves and our ancestors.
 */
export function whyNotSignal(
  entry: ProcessEntry,
  untouchable: ReadonlySet<number>
): RemainsBecause | undefined {
  if (untouchable.has(entry.pid)) return 'protected'
  const us = process.geteuid?.()
  if (us !== undefined && entry.uid !== -1 && entry.uid !== us) return 'another-user'
  return undefined
}
