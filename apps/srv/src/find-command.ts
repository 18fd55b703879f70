/** Finds what a shell would run, before anything is claimed: a command that is not there must cost nobody the agent. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { plainText } from '@agentmux/refusals'

export type FoundCommand =
  | { readonly kind: 'found'; readonly path: string }
  /** The exit codes of env(1) and every shell: 127 for missing, 126 for not executable. */
  | { readonly kind: 'missing'; readonly exitCode: 127; readonly message: string }
  | { readonly kind: 'not-executable'; readonly exitCode: 126; readonly message: string }

/** `pathVariable`: the PATH to look in; the system's default if undefined. */
export function findCommand(name: string, pathVariable: string | undefined): FoundCommand {
  // Windows looks in more places and for more endings than can be told apart here: left to the start itself.
  if (process.platform === 'win32') return { kind: 'found', path: name }
  if (name.includes('/')) return judge(name, name)
  let refused: FoundCommand | undefined
  for (const folder of (pathVariable ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    const found = judge(name, join(folder === '' ? '.' : folder, name))
    if (found.kind === 'found') return found
    if (found.kind === 'not-executable') refused ??= found
  }
  return refused ?? missing(name, 'not found in PATH')
}

function judge(name: string, path: string): FoundCommand {
  try {
    if (!statSync(path).isFile()) return notExecutable(name, 'not a file that can be run')
  } catch (error) {
    // A folder of PATH that is closed to us has nothing for us; a path that was given is another matter.
    if (isDenied(error) && name.includes('/')) return notExecutable(name, 'permission denied')
    return missing(name, 'no such file')
  }
  try {
    accessSync(path, constants.X_OK)
  } catch {
    return notExecutable(name, 'permission denied')
  }
  // A plain name as a path would be looked up in PATH once more.
  return { kind: 'found', path: path.includes('/') ? path : `./${path}` }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
}

const SHOWN_LENGTH = 200
const NOTHING_DONE = 'nothing was started and the agent was not claimed'

function missing(name: string, why: string): FoundCommand {
  return {
    kind: 'missing',
    exitCode: 127,
    message: `${plainText(name, SHOWN_LENGTH)}: ${why}; ${NOTHING_DONE}`
  }
}

function notExecutable(name: string, why: string): FoundCommand {
  return {
    kind: 'not-executable',
    exitCode: 126,
    message: `${plainText(name, SHOWN_LENGTH)}: ${why}; ${NOTHING_DONE}`
  }
}
