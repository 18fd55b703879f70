/** Lets go of one agent at the relay. */
import type { ReleaseAnswer } from './lease-answers.js'
import { holderBody, type LeaseContext, type OperationOptions } from './lease-context.js'

/**
 * Whoever had to wait for the lock looks again whether the agent is still gone. What the relay did not confirm is tried
 * again by the next tick, and lapses after one TTL.
 */
export function releaseLease(
  context: LeaseContext,
  key: string,
  { signal }: OperationOptions
): Promise<ReleaseAnswer> {
  const { state, calls, locks, identity, isSubscribed } = context
  return locks.run(
    key,
    async () => {
      if (isSubscribed?.(key) === true) return { kind: 'subscribed' }
      if (!state.mayHold(key)) return { kind: 'not-held' }
      state.begin(key)
      state.noteLettingGo(key)
      const body = { agent_id: key, ...holderBody(identity) }
      const answer = await calls.call('release', { agent: key, body, signal })
      if (answer.kind === 'unknown' && answer.why !== 'route-missing') return answer
      // A 409 says that it is not ours to let go, a missing route that nobody can: both end the trying.
      state.noteNotHeld(key)
      return answer.kind === 'unknown' ? answer : { kind: 'released' }
    },
    signal
  )
}
