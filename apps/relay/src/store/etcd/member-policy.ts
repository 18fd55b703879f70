/**
 * What the client of etcd does about a member that does not answer in time: it is left alone for a moment, and the others are
 * asked. Nothing is ever asked twice: that is for whoever knows what was asked.
 */
import { GRPCDeadlineExceededError, type IOptions } from 'etcd3'

type FaultHandling = NonNullable<IOptions['faultHandling']>
type Policy = NonNullable<FaultHandling['global']>

/** Short: while a leader is being elected none of them answers. */
const LEFT_ALONE_MS = 2_000

class LeftAlone extends Error {
  override readonly name = 'LeftAlone'
}

/** Async: the client hands in work that throws at once, and waits for a promise that rejects. */
export const askOnce: Policy = policyOf(async (work) => work())

export function memberPolicy(): Policy {
  let untilMs = 0
  return policyOf(async (work) => {
    if (performance.now() < untilMs) throw new LeftAlone('this member did not answer a moment ago')
    try {
      return await work()
    } catch (error) {
      // Any other error was an answer, or came at once.
      if (error instanceof GRPCDeadlineExceededError) untilMs = performance.now() + LEFT_ALONE_MS
      throw error
    }
  })
}

/** The client calls `execute` and nothing else of a policy. */
function policyOf(execute: <T>(work: () => PromiseLike<T> | T) => Promise<T>): Policy {
  return { execute } as unknown as Policy
}
