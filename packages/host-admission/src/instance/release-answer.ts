/** What another instance says to the request to let an agent go: POST /agentmux/agent/release. */
import { plainText } from '@agentmux/refusals'
import { booleanField, optionalText, shaped, wholeField } from '../json-fields.js'
import type { LoopbackAnswer } from './ask-loopback.js'
import { type Unanswered, unanswered } from './unanswered.js'

export interface ReleaseRequest {
  readonly uid: string
  /** The agent's name, for what the holder's user reads. */
  readonly agent?: string | undefined
  readonly requestedByChannel: string
  readonly requestedByVersion: string
}

export type ReleaseAnswer =
  /** `count` panes let go; 0 means that it did not hold the agent. */
  | { readonly kind: 'released'; readonly count: number }
  /** It said no; `error` is its sentence, safe to print, or empty. */
  | { readonly kind: 'refused'; readonly status: number; readonly error: string }
  | Unanswered

const MAX_ERROR_LENGTH = 512

export function releaseBody(request: ReleaseRequest): Record<string, string> {
  return {
    uid: request.uid,
    ...(request.agent === undefined ? {} : { agent: request.agent }),
    requested_by_channel: request.requestedByChannel,
    requested_by_version: request.requestedByVersion
  }
}

export function readReleaseAnswer(answer: LoopbackAnswer): ReleaseAnswer {
  if (answer.kind === 'answered' && answer.status === 200) {
    const released = shaped(answer.body, (fields) =>
      booleanField(fields, 'ok') ? wholeField(fields, 'released') : undefined
    )
    if (released !== undefined) return { kind: 'released', count: released }
  }
  const how = unanswered(answer)
  if (answer.kind === 'no-answer' || how.kind !== 'bad-answer') return how
  const error = shaped(answer.body, (fields) => optionalText(fields, 'error', 16 * 1024))
  if (answer.status < 400 && !error) return how
  return { kind: 'refused', status: answer.status, error: plainText(error, MAX_ERROR_LENGTH) }
}
