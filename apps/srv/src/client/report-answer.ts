/** What the daemon said when it was not what was asked for: for the person, for a program (--json), and as an exit code. */
import { EXIT_CODES, parseRefusal, plainText, type Refusal } from '@agentmux/refusals'
import { fail, type ReportFlags, refuse } from '../report.js'
import type { Answer } from './daemon-client.js'

const MAX_ERROR_LENGTH = 1_000

/** Returns the exit code. */
export function reportAnswer(flags: ReportFlags, answer: Answer): number {
  if (answer.kind === 'no-answer') return fail(flags, EXIT_CODES.couldNotFindOut, answer.message)
  const refusal = refusalIn(answer.body)
  if (refusal !== undefined) return refuse({ ...flags, conflictExitCode: EXIT_CODES.heldElsewhere }, refusal)
  const said = plainText(answer.body.error, MAX_ERROR_LENGTH) || `it answered ${answer.status}`
  return fail(flags, exitCodeOf(answer), `the daemon: ${said}`)
}

function refusalIn({ refusal }: Readonly<Record<string, unknown>>): Refusal | undefined {
  return refusal === undefined ? undefined : parseRefusal(refusal)
}

function exitCodeOf({ status, body }: Extract<Answer, { kind: 'answered' }>): number {
  switch (status) {
    case 400:
    case 404:
    case 413:
      return EXIT_CODES.usage
    case 422:
      return body.exit_code === 127 ? 127 : 126
    case 409:
    case 429:
      return EXIT_CODES.heldElsewhere
    default:
      return EXIT_CODES.couldNotFindOut
  }
}
