/**
 * Whether a process runs, and since when. Exact on Linux; elsewhere only its existence is known and any doubt
 * counts as alive.
 */
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs'
import { errnoOf } from './lease-fault.js'

export type ProcessState =
  | { readonly kind: 'gone' }
  /** `startTicks`: field 22 of /proc/PID/stat, 0 where it cannot be read. */
  | { readonly kind: 'alive'; readonly startTicks: number }

const GONE: ProcessState = { kind: 'gone' }
/** The fields up to the start time fit several times over. */
const buffer = Buffer.allocUnsafe(1_024)

let procIsOurs: boolean | undefined

export function processState(pid: number): ProcessState {
  procIsOurs ??= isProcOurs()
  if (procIsOurs) {
    try {
      return parseStat(readStat(String(pid)))
    } catch {
      // Hidden from us (hidepid) or gone: the signal below tells which.
    }
  }
  return answersSignal(pid) ? { kind: 'alive', startTicks: 0 } : GONE
}

/** When this process started, in ticks; 0 where unknown. `/proc/self` is right whatever namespace /proc shows. */
export function ownStartTicks(): number {
  try {
    const state = parseStat(readStat('self'))
    return state.kind === 'alive' ? state.startTicks : 0
  } catch {
    return 0
  }
}

/** The command name, field 2, may hold spaces and parentheses: fields are counted after the last `)`. */
export function parseStat(stat: string): ProcessState {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20)
  const [state] = fields
  if (state === 'X' || state === 'x') return GONE
  // A zombie drives nothing, unless only its first thread has ended (field 20 counts the threads).
  if (state === 'Z' && !(Number(fields[17]) > 1)) return GONE
  const startTicks = Number(fields[19])
  return { kind: 'alive', startTicks: Number.isSafeInteger(startTicks) ? startTicks : 0 }
}

function readStat(name: string): string {
  const descriptor = openSync(`/proc/${name}/stat`, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, buffer.length, 0))
  } finally {
    closeSync(descriptor)
  }
}

/** A pid namespace without a /proc of its own sees its parent's: other processes under the same numbers. */
function isProcOurs(): boolean {
  try {
    return process.platform === 'linux' && readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
}

/** Whether a signal would find it. EPERM means that it runs and is somebody else's. */
function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ESRCH'
  }
}
