/** The processes of this system: which there are, and what we may know of one. Linux reads /proc. */
import { readdirSync, readFileSync } from 'node:fs'
import { claimMarks } from './claim-mark.js'
import { isGoneOrHidden, readStat } from './process-stat.js'

/** A process, as much as is needed to decide about a signal, and to name it to a person. */
export interface ProcessEntry {
  readonly pid: number
  /** The one user it runs as; -1 if that cannot be told, or if it is between two users (setuid). */
  readonly uid: number
  /** With the pid, this names one process for ever; 0 if unknown. */
  readonly startTicks: number
  /** Its program, and the script it runs. Not its arguments: they may hold secrets (R16). */
  readonly command: string
}

/** Whether processes can be found by their environment here. */
export const canFindByEnvironment = process.platform === 'linux'

const MAX_COMMAND = 200

/** All running pids. @throws if /proc cannot be read. */
export function listPids(): number[] {
  if (!canFindByEnvironment) return []
  const pids: number[] = []
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0)
    if (first >= 0x31 && first <= 0x39) pids.push(Number(name))
  }
  return pids
}

/** Undefined if it is gone; a zombie is gone. */
export function describeProcess(pid: number): ProcessEntry | undefined {
  const stat = readStat(pid)
  if (stat === undefined) return undefined
  return { pid, uid: userOf(pid), startTicks: stat.startTicks, command: commandOf(pid) }
}

/** Whether this very process still runs: a reused pid has another start. */
export function stillRuns(entry: { pid: number; startTicks: number }): boolean {
  const stat = readStat(entry.pid)
  return stat !== undefined && (entry.startTicks === 0 || stat.startTicks === entry.startTicks)
}

/**
 * The process, if it carries one of the claims; 'unsettled' if that cannot be told yet, 'empty' if it
 * seems to have no environment at all. What is described carries the
 * claim before and after, so it is not another process that got the pid in between.
 */
export function carrierOf(
  pid: number,
  wanted: ReadonlySet<string>
):
  | { readonly entry: ProcessEntry; readonly claimIds: readonly string[] }
  | 'unsettled'
  | 'empty'
  | undefined {
  const before = claimMarks(pid)
  if (before === 'unsettled' || before === 'empty') return before
  if (!before.some((claimId) => wanted.has(claimId))) return undefined
  const entry = describeProcess(pid)
  const after = claimMarks(pid)
  if (after === 'unsettled' || after === 'empty') return 'unsettled'
  const claimIds = after.filter((claimId) => wanted.has(claimId))
  return entry === undefined || claimIds.length === 0 ? undefined : { entry, claimIds }
}

/** The user ids are those of the process itself: the owner of its folder in /proc is root for one that hides. */
export function userOf(pid: number): number {
  try {
    const line = /^Uid:\t(\d+)\t(\d+)\t(\d+)\t/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
    const [, real, effective, saved] = line ?? []
    return real !== undefined && real === effective && real === saved ? Number(real) : -1
  } catch (error) {
    if (isGoneOrHidden(error)) return -1
    throw error
  }
}

function commandOf(pid: number): string {
  try {
    const [program = '', script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0', 2)
    const named = program === '' ? readFileSync(`/proc/${pid}/comm`, 'utf8').trim() : program
    const shown = script.startsWith('/') ? `${named} ${script}` : named
    return shown.replace(/\p{Cc}/gu, '?').slice(0, MAX_COMMAND)
  } catch (error) {
    if (isGoneOrHidden(error)) return ''
    throw error
  }
}
