/**
 * What is read when an agent's previous holder is gone but its processes are not, and they were not ours to end: each by
 * pid and command, why, and what to do. It carries no marker: there is no instance left that could hand over.
 */
import type { AgentRef } from '@agentmux/lease-model'
import { agentAtStart } from './agent-label.js'
import { withOnlyMarker } from './only-marker.js'
import { pidText, typedPids } from './pid-text.js'
import { plainText } from './plain-text.js'
import type { RemainingProcess, RemainsBecause } from './remaining-process.js'

/** A sentence names this many; a fork bomb does not fill the screen. */
const NAMED = 5
const COMMAND_LENGTH = 80

export function processesRemainMessage(agent: AgentRef, processes: readonly RemainingProcess[]): string {
  const shown = processes.slice(0, NAMED)
  const more = processes.length > NAMED ? [`and ${processes.length - NAMED} more`] : []
  const list = [...shown.map(processText), ...more].join('; ')
  const steps = Array.from(new Set(shown.map(({ because }) => because)), (because) =>
    whatToDo(
      because,
      shown.filter((process) => process.because === because).map(({ pid }) => pid)
    )
  )
  return withOnlyMarker(
    `${agentAtStart(agent)} cannot start: processes of its previous run are still there${list ? `: ${list}` : ''}. ${steps.length > 0 ? [...steps, 'Then try again.'].join(' ') : 'Try again later.'}`
  )
}

function processText({ pid, command, because }: RemainingProcess): string {
  const shown = plainText(command, COMMAND_LENGTH)
  return `${pidText(pid)}${shown ? ` (${shown})` : ''} ${whyItRemains(because)}`
}

function whyItRemains(because: RemainsBecause): string {
  switch (because) {
    case 'another-user':
      return 'belongs to another user'
    case 'protected':
      return 'is this command itself, or what started it'
    case 'untrusted-lease':
      return 'was not ended, as others can write the lease that names it'
    case 'unverified':
      return 'was not ended, as it could not be checked whether it is the agent'
    case 'survived':
      return 'was killed and has not ended yet'
  }
}

function whatToDo(because: RemainsBecause, pids: readonly number[]): string {
  switch (because) {
    case 'another-user':
      return `Ask its user or an administrator to end it (\`kill ${typedPids(pids)}\`).`
    case 'protected':
      return 'Start the agent from a terminal that its previous run did not open.'
    case 'untrusted-lease':
      return `Let nobody but yourself write the lease folder, or end it yourself if it is the agent (\`kill ${typedPids(pids)}\`).`
    case 'unverified':
      return `Look at it (\`ps -fp ${typedPids(pids, ',')}\`), and end it yourself if it is the agent (\`kill ${typedPids(pids)}\`).`
    case 'survived':
      return 'Wait until it ends; it is likely stuck on a disk or a network share.'
  }
}
