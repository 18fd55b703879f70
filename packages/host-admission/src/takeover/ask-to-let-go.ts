/**
 * Asks the instances that may hold an agent to let it go, one after the other, until one has. Only a take-over that a
 * person started may call this (R5).
 */
import type { InstanceClient } from '../instance/instance-client.js'
import type { InstanceEndpoint } from '../instance/instance-endpoint.js'
import type { ReleaseAnswer, ReleaseRequest } from '../instance/release-answer.js'

export interface AskOptions {
  readonly client: InstanceClient
  readonly signal?: AbortSignal | undefined
  /** Told of each that is asked, before it is. */
  readonly onAsking?: ((endpoint: InstanceEndpoint) => void) | undefined
}

/** The answer that tells most, and who gave it. Undefined if there was nobody to ask. */
export interface LetGo {
  readonly endpoint: InstanceEndpoint
  readonly answer: ReleaseAnswer
}

/** What tells most comes first. An instance that released nothing was not the holder. */
const TELLING: readonly ReleaseAnswer['kind'][] = [
  'refused',
  'too-old',
  'no-answer',
  'bad-answer',
  'unauthorized',
  'released'
]

/** @throws the signal's reason when aborted. */
export async function askToLetGo(
  endpoints: readonly InstanceEndpoint[],
  request: ReleaseRequest,
  { client, signal, onAsking }: AskOptions
): Promise<LetGo | undefined> {
  const answers: LetGo[] = []
  for (const endpoint of endpoints) {
    onAsking?.(endpoint)
    const answer = await client.requestRelease(endpoint, request, signal)
    if (answer.kind === 'released' && answer.count > 0) return { endpoint, answer }
    answers.push({ endpoint, answer })
  }
  const rank = ({ answer }: LetGo) => TELLING.indexOf(answer.kind)
  return answers.sort((one, other) => rank(one) - rank(other))[0]
}
