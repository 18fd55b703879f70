/**
 * The mark by which a process is known to be part of a claim (R12): a variable of its environment, as it was at its
 * last exec. A process that wipes or overwrites its environment carries no mark.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { isGoneOrHidden, type ProcessStat, readStat } from './process-stat.js'

/** The variable that marks a process as part of a claim. */
export const CLAIM_VARIABLE = 'AGENTMUX_CLAIM_ID'

/**
 * The claims that a process carries, or that this cannot be told at this moment: it is in the middle of an exec, or
 * perhaps is. `empty`: for an instant of an exec the kernel shows an environment of no length, as of a process that has none.
 */
export type ClaimMarks = readonly string[] | 'unsettled' | 'empty'

/** More than a kernel with the usual limits lets an environment be. */
const MAX_ENVIRONMENT_BYTES = 8 * 1024 * 1024
const NONE: readonly string[] = []
const assignment = Buffer.from(`${CLAIM_VARIABLE}=`)

let buffer = Buffer.allocUnsafe(64 * 1024)

/**
 * A process that is gone, or whose environment is closed to us, carries none.
 *
 * @throws whatever keeps /proc itself from being read: too many open files, say.
 */
export function claimMarks(pid: number): ClaimMarks {
  const environment = readEnvironment(`/proc/${pid}/environ`)
  if (environment !== 'closed' && environment.length > 0) return marksIn(environment)
  const stat = readStat(pid)
  if (stat === undefined) return NONE
  // That of a first thread which has ended is empty, or closed to all but root.
  if (stat.headless) return marksOfThreads(pid)
  return environment === 'closed' ? NONE : marksOfEmpty(stat)
}

/** Whether a process does not let us read its environment. One that is gone hides nothing. */
export function hidesEnvironment(pid: number): boolean {
  return readEnvironment(`/proc/${pid}/environ`) === 'closed'
}

/** Nothing was read: there is nothing, or it was read just before an exec put it in place. */
function marksOfEmpty(stat: ProcessStat): ClaimMarks {
  if (stat.environment === 'none') return NONE
  return stat.environment === 'empty' ? 'empty' : 'unsettled'
}

function marksOfThreads(pid: number): readonly string[] {
  for (const thread of threadsOf(pid)) {
    const environment = readEnvironment(`/proc/${pid}/task/${thread}/environ`)
    if (environment !== 'closed' && environment.length > 0) return marksIn(environment)
  }
  return NONE
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch (error) {
    if (isGoneOrHidden(error)) return []
    throw error
  }
}

/** Every value that the variable is given. */
export function marksIn(environment: Buffer): readonly string[] {
  let at = environment.indexOf(assignment)
  if (at === -1) return NONE
  const marks: string[] = []
  for (; at !== -1; at = environment.indexOf(assignment, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue
    const end = environment.indexOf(0, at)
    marks.push(environment.toString('utf8', at + assignment.length, end === -1 ? environment.length : end))
  }
  return marks
}

/** `closed`: of another user or of a process that hides it. Empty also if it is gone or has lost its first thread. */
function readEnvironment(path: string): Buffer | 'closed' {
  let length = 0
  try {
    const descriptor = openSync(path, 'r')
    try {
      for (;;) {
        const read = readSync(descriptor, buffer, length, buffer.length - length, null)
        length += read
        if (read === 0 || length >= MAX_ENVIRONMENT_BYTES) break
        if (length < buffer.length) continue
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (!isGoneOrHidden(error)) throw error
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EACCES' || code === 'EPERM') return 'closed'
  }
  return buffer.subarray(0, length)
}
