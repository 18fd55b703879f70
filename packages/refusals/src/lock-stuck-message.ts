/**
 * What is read when the lock of a lease is not given back in time (R3): the process inside it, which is the one thing
 * that no time limit gets past. It carries no marker: nobody can be asked to hand over.
 */
import type { AgentRef } from '@agentmux/lease-model'
import { agentInside } from './agent-label.js'
import { shownPath } from './lease-io-message.js'
import { withOnlyMarker } from './only-marker.js'
import { pidText, typedPids } from './pid-text.js'
import { plainText } from './plain-text.js'

export interface LockingProcess {
  readonly pid: number
  /** Its command line; empty if unknown. */
  readonly command: string
  /** Whether it is stopped (SIGSTOP, Ctrl-Z, a debugger), and so will not give the lock back by itself. */
  readonly stopped: boolean
}

const COMMAND_LENGTH = 80

/** `process`: who is inside the lock, if known. */
export function lockStuckMessage(agent: AgentRef, path: string, process?: LockingProcess): string {
  return withOnlyMarker(
    `The lease of ${agentInside(agent)} is locked (${shownPath(path)}) by ${whoLocks(process)}. Nothing was started. ${whatToDo(process)}`
  )
}

function whoLocks(process: LockingProcess | undefined): string {
  if (process === undefined) return 'a process that could not be found'
  const command = plainText(process.command, COMMAND_LENGTH)
  return `${pidText(process.pid)}${command ? ` (${command})` : ''}${process.stopped ? ', which is stopped' : ''}`
}

function whatToDo(process: LockingProcess | undefined): string {
  return process?.stopped
    ? `Let it go on (\`kill -CONT ${typedPids([process.pid])}\`) or end it, then try again.`
    : 'Try again; if that does not help, end the process that locks it.'
}
