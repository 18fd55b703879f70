/**
 * What the client of etcd does about a member that fails: after two failures in a row it is left alone for a while, and the
 * others are asked. Nothing is ever asked twice: that is for whoever knows what was asked.
 */
import type { IOptions } from 'etcd3'

type FaultHandling = NonNullable<IOptions['faultHandling']>
type Policy = NonNullable<FaultHandling['global']>

const FAILURES = 2
const LEFT_ALONE_MS = 3_000

class LeftAlone extends Error {
  override readonly name = 'LeftAlone'
}

export const askOnce: Policy = policyOf((work) => work())

export function memberPolicy(): Policy {
  let failures = 0
  let untilMs = 0
  return policyOf(async (work) => {
    if (performance.now() < untilMs) throw new LeftAlone('this member did not answer a moment ago')
    try {
      const answer = await work()
      failures = 0
      return answer
    } catch (error) {
      failures++
      if (failures >= FAILURES) untilMs = performance.now() + LEFT_ALONE_MS
      throw error
    }
  })
}

/** The client calls `execute` and nothing else of a policy. */
function policyOf(execute: <T>(work: () => PromiseLike<T> | T) => PromiseLike<T> | T): Policy {
  return { execute } as unknown as Policy
}
