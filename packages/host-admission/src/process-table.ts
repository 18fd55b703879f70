/**
 * Looking at other processes: which of them carry a claim's mark, and what we may know of one. The only file here that
 * knows the operating system. Linux reads /proc; elsewhere nothing can be found by its environment, and it says so.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { processState } from '@agentmux/lease-store'

/** The variable that marks a process as part of a claim (R12). */
export const CLAIM_VARIABLE = 'AGENTMUX_CLAIM_ID'

/** A process, as much as is needed to decide about a signal, and to name it to a person. */
export interface ProcessEntry {
  readonly pid: number
  /** The user it runs as; -1 if unknown. */
  readonly uid: number
  /** With the pid, this names one process for ever; 0 if unknown. */
  readonly startTicks: number
  readonly command: string
}

/** Whether processes can be found by their environment here. */
export const canFindByEnvironment = process.platform === 'linux'

/** An environment may be large; this is more than a kernel with the usual limits lets one be. */
const MAX_ENVIRONMENT_BYTES = 8 * 1024 * 1024
const MAX_COMMAND = 200

let buffer = Buffer.allocUnsafe(64 * 1024)

/** All running pids. */
export function listPids(): number[] {
  if (!canFindByEnvironment) return []
  const pids: number[] = []
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0)
    if (first >= 0x31 && first <= 0x39) pids.push(Number(name))
  }
  return pids
}

/** Whether a process carries the claim's mark. One that is gone, or whose environment is closed to us, does not. */
export function carriesClaim(pid: number, claimId: string): boolean {
  const mark = Buffer.from(`${CLAIM_VARIABLE}=${claimId}`)
  const environment = readEnvironment(pid)
  for (let at = environment.indexOf(mark); at !== -1; at = environment.indexOf(mark, at + 1)) {
    const before = at === 0 ? 0 : environment[at - 1]
    const after = at + mark.length === environment.length ? 0 : environment[at + mark.length]
    if (before === 0 && after === 0) return true
  }
  return false
}

/** Undefined if it is gone; a zombie is gone. */
export function describeProcess(pid: number): ProcessEntry | undefined {
  const state = processState(pid)
  if (state.kind === 'gone') return undefined
  return { pid, uid: ownerOf(pid), startTicks: state.startTicks, command: commandOf(pid) }
}

/** Whether this very process still runs: a reused pid has another start. */
export function stillRuns(entry: ProcessEntry): boolean {
  const state = processState(entry.pid)
  return state.kind === 'alive' && (entry.startTicks === 0 || state.startTicks === entry.startTicks)
}

/** Ourselves and everything that started us, up to pid 1. */
export function ourselvesAndAncestors(): Set<number> {
  const pids = new Set<number>([1, process.pid, process.ppid])
  for (let pid = process.pid; pid > 1; ) {
    pid = parentOf(pid)
    if (pids.has(pid) && pid !== process.ppid) break
    pids.add(pid)
  }
  return pids
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1] ?? 0)
  } catch {
    return 0
  }
}

function ownerOf(pid: number): number {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid ?? -1
}

function commandOf(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return (line || readFileSync(`/proc/${pid}/comm`, 'utf8').trim()).slice(0, MAX_COMMAND)
  } catch {
    return ''
  }
}

function readEnvironment(pid: number): Buffer {
  let length = 0
  try {
    const descriptor = openSync(`/proc/${pid}/environ`, 'r')
    try {
      for (;;) {
        const read = readSync(descriptor, buffer, length, buffer.length - length, null)
        if (read === 0) break
        length += read
        if (length < buffer.length) continue
        if (length >= MAX_ENVIRONMENT_BYTES) break
        const larger = Buffer.allocUnsafe(buffer.length * 2)
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Gone, a kernel thread, or another user's: its environment is not there to be read.
  }
  return buffer.subarray(0, length)
}
