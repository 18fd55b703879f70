/**
 * What a holder that was asked to let go has come to, from its words and from its lease: it speaks only after its last
 * step, one that is stopped never speaks, and one that dies breaks the connection before it is seen to be gone.
 */
import type { Clock } from '@agentmux/lease-model'
import type { TakeOverFailure } from '@agentmux/refusals'
import type { LetGo } from './ask-to-let-go.js'
import type { Located } from './locate-holder.js'

export type NotLetGo = Exclude<TakeOverFailure, 'ran-out' | 'another-computer' | 'outrun'>

interface Patience {
  readonly clock: Clock
  /** Ends the waiting here; to be aborted once the answer is known. */
  readonly signal: AbortSignal
}

/** Between a holder's last word and the end of its lease, whichever is first: a process has to end, or a relay to answer. */
const A_MOMENT_MS = 2_000

/** The answer; undefined if the agent has become free, and a moment later there still was none. */
export function answerOrFree(
  asked: Promise<LetGo | undefined>,
  free: Promise<unknown>,
  { clock, signal }: Patience
): Promise<LetGo | undefined> {
  const unanswered = free.then(async () => {
    await clock.sleep(A_MOMENT_MS, signal)
    return undefined
  })
  return Promise.race([asked, unanswered])
}

/** Whether the agent becomes free within a moment. */
export function freeInAMoment(free: Promise<unknown>, { clock, signal }: Patience): Promise<boolean> {
  const aMoment = clock.sleep(A_MOMENT_MS, signal)
  return Promise.race([free.then(() => true), aMoment.then(() => false)])
}

/** It said so, or it said that it has nothing of it although the lease names it: then it is letting go already. */
export function mayHaveLetGo(
  { answer }: LetGo,
  { holder, endpoints }: Extract<Located, { kind: 'found' | 'unknown' }>
): boolean {
  if (answer.kind !== 'released') return false
  return answer.count > 0 || holder.pid === 0 || endpoints.some(({ pid }) => pid === holder.pid)
}

export function whyNotLetGo({ answer }: LetGo): NotLetGo {
  switch (answer.kind) {
    case 'refused':
    case 'too-old':
      return answer.kind
    case 'no-answer':
      return answer.why === 'refused' ? 'not-running' : 'no-answer'
    case 'bad-answer':
      return 'no-answer'
    case 'released':
    case 'unauthorized':
      // Whoever answered there is not the instance that the lease names.
      return 'not-running'
  }
}
