/**
 * Process ids in sentences and command lines. A pid may come from a forged lease, and `kill` reads 0 and negative
 * numbers as groups or as everything: keeps true that no advice ever names such a one, nor pid 1.
 */

export function pidText(pid: number): string {
  return isPid(pid) ? `pid ${pid}` : 'a process of unknown pid'
}

/** The pids as arguments of `kill`; the word PID where there is none to name. */
export function typedPids(pids: readonly number[], separator = ' '): string {
  return pids.filter((pid) => isPid(pid) && pid > 1).join(separator) || 'PID'
}

export function isPid(pid: number): boolean {
  return Number.isSafeInteger(pid) && pid > 0
}
