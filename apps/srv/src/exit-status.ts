/** The exit code of a command, as a shell reports it. */
import { constants } from 'node:os'

/** The command's own code, or 128 + the number of the signal that ended it. */
export function exitStatus(code: number | null, signal: NodeJS.Signals | null): number {
  if (signal !== null) return signalStatus(signal)
  return code ?? 0
}

export function signalStatus(signal: NodeJS.Signals): number {
  return 128 + (constants.signals[signal] ?? 0)
}
