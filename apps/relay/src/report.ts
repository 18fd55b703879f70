/** How an answer reaches whoever asked: a sentence on stderr, or with --json one JSON object that a program reads. */
import { print, say } from './output.js'

export interface ReportFlags {
  readonly json?: boolean | undefined
}

/** Returns the exit code, for the caller to end with. */
export function fail(flags: ReportFlags, exitCode: number, message: string): number {
  if (flags.json) print(errorJson(exitCode, message))
  else say(message)
  return exitCode
}

export function errorJson(exitCode: number, message: string): string {
  return JSON.stringify({ error: { exitCode, message } })
}
