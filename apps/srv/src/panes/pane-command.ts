/** What a pane is to run, checked and found before anything is claimed: a command that is not there must cost nobody the agent. */
import { statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { leaseKey } from '@agentmux/lease-store'
import { plainText } from '@agentmux/refusals'
import { findCommand } from '../find-command.js'
import type { OpenRequest } from './pane-answers.js'

export interface PaneCommand {
  /** What to start, as found. */
  readonly path: string
  /** How it was asked for: its argv[0]. */
  readonly name: string
  readonly args: readonly string[]
  readonly cwd: string
}

export type FoundPaneCommand =
  | { readonly kind: 'found'; readonly command: PaneCommand }
  | { readonly kind: 'cannot-run'; readonly exitCode: 126 | 127; readonly message: string }

const MAX_AGENT_NAME = 256
const SHOWN_LENGTH = 200

/** @throws TypeError or RangeError for what cannot be asked for at all. */
export function checkOpenRequest(request: OpenRequest): void {
  leaseKey(request.uid)
  const { agent, command, cwd, environment = {} } = request
  if (agent !== undefined && (agent.trim() === '' || agent.length > MAX_AGENT_NAME || agent.includes('\0'))) {
    throw new RangeError(`an agent name has 1 to ${MAX_AGENT_NAME} characters`)
  }
  if (command[0] === undefined || command[0] === '') throw new TypeError('a pane needs a command')
  for (const text of [...command, cwd ?? '', ...Object.values(environment)]) {
    if (text.includes('\0')) throw new TypeError('a command, its folder and its environment have no NUL')
  }
  for (const name of Object.keys(environment)) {
    // With a = in its name it would be another variable to the child: a claim's mark, say.
    if (name === '' || /[=\0]/.test(name)) throw new TypeError('a variable has a name without = and NUL')
  }
}

export function findPaneCommand(request: OpenRequest): FoundPaneCommand {
  const [name = '', ...args] = request.command
  const cwd = resolve(request.cwd ?? '.')
  if (!isFolder(cwd)) {
    const message = `${plainText(cwd, SHOWN_LENGTH)} is not a folder; nothing was started and the agent was not claimed`
    return { kind: 'cannot-run', exitCode: 126, message }
  }
  const path = request.environment?.PATH ?? process.env.PATH
  const found = name.includes('/')
    ? findCommand(resolve(cwd, name), path)
    : findCommand(
        name,
        path
          ?.split(delimiter)
          .map((folder) => resolve(cwd, folder))
          .join(delimiter)
      )
  if (found.kind !== 'found') return { ...found, kind: 'cannot-run' }
  return { kind: 'found', command: { path: found.path, name, args, cwd } }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
