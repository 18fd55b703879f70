/** Which processes may never be signalled, whatever they carry (R15). */
import { readStat } from './process-stat.js'

/** Pid 1, ourselves, and everything that started us. */
export function ourselvesAndAncestors(): Set<number> {
  const pids = new Set<number>([1, process.pid, process.ppid])
  for (let pid = process.pid, steps = 0; pid > 1 && steps < MAX_DEPTH; steps++) {
    pid = readStat(pid)?.parentPid ?? 0
    pids.add(pid)
  }
  return pids
}

/** A chain that changes while it is walked must not become a circle. */
const MAX_DEPTH = 1_000
