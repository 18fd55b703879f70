/** Finds what a shell would run, before anything is claimed: a command that is not there must cost nobody the agent. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

export type FoundCommand =
  | { readonly kind: 'found'; readonly path: string }
  /** The exit codes of env(1) and every shell: 127 for missing, 126 for not executable. */
  | { readonly kind: 'missing'; readonly exitCode: 127; readonly message: string }
  | { readonly kind: 'not-executable'; readonly exitCode: 126; readonly message: string }

export function findCommand(name: string, pathVariable: string | undefined): FoundCommand {
  // Windows looks in more places and for more endings than can be told apart here: left to the start itself.
  if (process.platform === 'win32') return { kind: 'found', path: name }
  if (name.includes('/')) return judge(name, resolve(name))
  let refused: FoundCommand | undefined
  for (const folder of (pathVariable ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter)) {
    const found = judge(name, join(folder === '' ? '.' : folder, name))
    if (found.kind === 'found') return found
    if (found.kind === 'not-executable') refused ??= found
  }
  const message = `${name}: command not found in PATH; nothing was started and the agent was not claimed`
  return refused ?? { kind: 'missing', exitCode: 127, message }
}

function judge(name: string, path: string): FoundCommand {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    return { kind: 'missing', exitCode: 127, message: `${name}: no such file; nothing was started` }
  }
  try {
    if (!stats.isFile()) throw new Error('not a file')
    accessSync(path, constants.X_OK)
    return { kind: 'found', path }
  } catch {
    return {
      kind: 'not-executable',
      exitCode: 126,
      message: `${name}: not an executable file; nothing was started`
    }
  }
}
