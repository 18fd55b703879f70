/**
 * Whether a process runs, and since when. Exact on Linux; elsewhere only its existence is known and any doubt
 * counts as alive.
 */
import { readFileSync } from 'node:fs'
import { errnoOf } from './lease-fault.js'

export type ProcessState =
  | { readonly kind: 'gone' }
  /** `startTicks`: field 22 of /proc/PID/stat, 0 where it cannot be read. */
  | { readonly kind: 'alive'; readonly startTicks: number }

const GONE: ProcessState = { kind: 'gone' }

export function processState(pid: number): ProcessState {
  if (process.platform === 'linux') {
    try {
      return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
    } catch {
      // Hidden from us (hidepid) or gone: the signal below tells which.
    }
  }
  return answersSignal(pid) ? { kind: 'alive', startTicks: 0 } : GONE
}

/** The command name, field 2, may hold spaces and parentheses: fields are counted after the last `)`. */
export function parseStat(stat: string): ProcessState {
  const afterName = stat.lastIndexOf(')') + 2
  const state = stat[afterName]
  // A zombie drives nothing; X is dead.
  if (state === 'Z' || state === 'X') return GONE
  const fields = stat.slice(afterName).split(' ', 20)
  const startTicks = Number(fields[19])
  return { kind: 'alive', startTicks: Number.isSafeInteger(startTicks) ? startTicks : 0 }
}

/** EPERM means that it runs and is somebody else's. */
function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ESRCH'
  }
}
