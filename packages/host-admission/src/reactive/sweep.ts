/** What a start-up removes from the reactive registry: entries that are too old, malformed, or of a process that is gone. */
import type { Clock } from '@agentmux/lease-model'
import { type RegistryFolder, removeEntry, statsOf } from './registry-folder.js'
import type { RegistryLiveness } from './registry-liveness.js'

export interface SweepOptions {
  readonly liveness: RegistryLiveness
  readonly clock: Clock
}

/** A write takes a moment; what is left of one after this long was left by a crash. */
const ABANDONED_MS = 60_000

/** How many files were removed. One that is written in the same instant comes back with its writer's next heartbeat. */
export function sweepRegistry(folder: RegistryFolder, options: SweepOptions): number {
  let removed = 0
  for (const path of folder.files()) {
    if (!isRubbish(path, folder, options)) continue
    removeEntry(path)
    removed++
  }
  return removed
}

function isRubbish(path: string, folder: RegistryFolder, { liveness, clock }: SweepOptions): boolean {
  if (path.endsWith('.json.tmp')) {
    const stats = statsOf(path)
    return stats !== undefined && clock.wallMs() - stats.mtimeMs > ABANDONED_MS
  }
  if (!path.endsWith('.json')) return false
  const file = folder.read(path)
  if (file.kind === 'entry') return liveness.isStale(file.entry)
  // Some builds write in place: what was only half there reads well the next time.
  return file.kind === 'malformed' && folder.read(path).kind === 'malformed'
}
