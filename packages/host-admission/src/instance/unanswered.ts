/** What a request to another instance came to when it was not the answer that was asked for. None of it is evidence. */
import type { LoopbackAnswer, NoAnswer } from './ask-loopback.js'

export type Unanswered =
  | { readonly kind: 'no-answer'; readonly why: NoAnswer }
  /** It does not know the route. */
  | { readonly kind: 'too-old'; readonly status: 404 | 405 }
  /** It does not accept the key that stands beside its address: another process has the port now, most likely. */
  | { readonly kind: 'unauthorized' }
  /** Another status, or a body that is not what the protocol says. */
  | { readonly kind: 'bad-answer'; readonly status: number }

/** For an answer that was not 200 with the right body. */
export function unanswered(answer: LoopbackAnswer): Unanswered {
  if (answer.kind === 'no-answer') return answer
  const { status } = answer
  if (status === 404 || status === 405) return { kind: 'too-old', status }
  if (status === 401) return { kind: 'unauthorized' }
  return { kind: 'bad-answer', status }
}

/** In a few words, for a log. */
export function unansweredText(how: Unanswered): string {
  switch (how.kind) {
    case 'no-answer':
      return NO_ANSWER_TEXTS[how.why]
    case 'too-old':
      return `it does not know the question (${how.status})`
    case 'unauthorized':
      return 'it does not accept its key (401)'
    case 'bad-answer':
      return `its answer makes no sense (${how.status})`
  }
}

const NO_ANSWER_TEXTS: Readonly<Record<NoAnswer, string>> = {
  refused: 'nothing listens there',
  'timed-out': 'no answer in time',
  'too-large': 'its answer is too large',
  broken: 'the connection broke'
}
