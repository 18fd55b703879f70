/**
 * What the kernel says of one process in /proc/PID/stat. Reading it asks nothing of the process's memory, so unlike its
 * environment or command line it never waits for a process that hangs.
 */
import { readFileSync } from 'node:fs'

export interface ProcessStat {
  readonly parentPid: number
  readonly groupId: number
  /** With the pid, this names one process for ever; 0 where unknown. */
  readonly startTicks: number
  /** Stopped by a signal or a debugger: it hears no SIGTERM. */
  readonly stopped: boolean
  /** In a wait that no signal ends, mostly for a disk. */
  readonly uninterruptible: boolean
  /** Its first thread has ended and others run on: the environment is found with them. */
  readonly headless: boolean
  /** Whether it has an environment that can be read now; `unsettled` in the middle of an exec. */
  readonly environment: 'none' | 'empty' | 'unsettled' | 'set'
}

/** Undefined if it is gone, or hidden from us. A zombie is gone. Elsewhere than on Linux only its existence is known. */
export function readStat(pid: number): ProcessStat | undefined {
  if (process.platform !== 'linux') return existsElsewhere(pid)
  const line = readLine(pid)
  return line === undefined ? undefined : parseStat(line)
}

/** When the process with this pid started, a zombie too: its pid is not free yet. Undefined if there is none. */
export function startTicksOf(pid: number): number | undefined {
  if (process.platform !== 'linux') return existsElsewhere(pid)?.startTicks
  const line = readLine(pid)
  return line === undefined ? undefined : Number(fieldsOf(line)[22 - FIRST_FIELD] ?? 0)
}

function readLine(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch (error) {
    if (isGoneOrHidden(error)) return undefined
    throw error
  }
}

/** The state, in the manual's count of fields. */
const FIRST_FIELD = 3

/** Counted after the last `)`: the command name before it may hold spaces and parentheses. */
function fieldsOf(line: string): string[] {
  return line.slice(line.lastIndexOf(')') + 2).split(' ')
}

export function parseStat(line: string): ProcessStat | undefined {
  const fields = fieldsOf(line)
  const field = (number: number) => Number(fields[number - FIRST_FIELD] ?? 0)
  const state = fields[0] ?? 'X'
  const headless = state === 'Z' && field(20) > 1
  if ((state === 'Z' && !headless) || state === 'X' || state === 'x') return undefined
  return {
    parentPid: field(4),
    groupId: field(5),
    startTicks: field(22),
    stopped: state === 'T' || state === 't',
    uninterruptible: state === 'D',
    headless,
    environment: environmentOf(field(23), field(50), field(51))
  }
}

function environmentOf(memory: number, begin: number, end: number): ProcessStat['environment'] {
  // Kernel threads, and processes that are past giving their memory back.
  if (memory === 0) return 'none'
  if (end === 0) return 'unsettled'
  return end > begin ? 'set' : 'empty'
}

/** Whether an error of /proc means that the process is gone, or that we may not look at it. Any other says nothing. */
export function isGoneOrHidden(error: unknown): boolean {
  return ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error))
}

export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}

function existsElsewhere(pid: number): ProcessStat | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return undefined
  }
  return {
    parentPid: 0,
    groupId: 0,
    startTicks: 0,
    stopped: false,
    uninterruptible: false,
    headless: false,
    environment: 'none'
  }
}
