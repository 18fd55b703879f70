/** Why a pane was not opened, as an answer: who drives the agent, or what else stands in the way. */
import type { OpenResult } from '../panes/pane-answers.js'
import { HttpError } from './http-error.js'
import { retryFields } from './retry-fields.js'

export function notOpened(result: Exclude<OpenResult, { kind: 'opened' }>): HttpError {
  switch (result.kind) {
    case 'refused': {
      const { refusal, by } = result
      return new HttpError(409, refusal.message, { refusal, by })
    }
    case 'unknown': {
      const { refusal, by, retryAfterMs } = result
      return new HttpError(503, refusal.message, { refusal, by, ...retryFields(retryAfterMs) })
    }
    case 'cannot-run':
      return new HttpError(422, result.message, { exit_code: result.exitCode })
    case 'too-many':
      return new HttpError(429, 'too many panes', { limit: result.limit })
    case 'closing':
      return new HttpError(503, 'closing')
  }
}
