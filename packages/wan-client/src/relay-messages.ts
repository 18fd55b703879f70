/**
 * Messages that the relay keeps for agents. Only the holder reads and claims them; a message is claimed before it is
 * delivered, and given back if it cannot be. Nothing here takes an agent over (R5).
 */
import { agentKey } from './agent-key.js'
import { refusedBy } from './answers.js'
import type { LeaseContext, OperationOptions } from './lease-context.js'
import {
  type AckAnswer,
  acknowledgedIds,
  type GiveBackAnswer,
  type InjectAnswer,
  injectedId,
  type NotHolder,
  type PendingAnswer,
  pendingMessages
} from './message-answers.js'
import type { Route } from './route.js'
import { type Unknown, unknown } from './unknown-why.js'

/** What a relay takes in one message, as UTF-8. */
export const MAX_MESSAGE_BYTES = 10_240

export interface RequestKeyOptions extends OperationOptions {
  /** The same for every try of one request, a fresh UUID for another; made up if absent. */
  readonly requestKey?: string
}

export interface Injection {
  readonly targetAgent: string
  readonly message: string
  /** Who sends it; absent if nobody is named. */
  readonly sourceAgent?: string
  readonly priority?: string
}

export class RelayMessages {
  readonly #context: LeaseContext

  constructor(context: LeaseContext) {
    this.#context = context
  }

  /** The agent's messages, the oldest first; they stay where they are. @throws the signal's reason when aborted. */
  async pending(agent: string, { signal }: OperationOptions = {}): Promise<PendingAnswer> {
    const key = agentKey(agent)
    if (key === undefined) return unknown('unusable-name')
    const { calls, state } = this.#context
    const mark = state.nextMark()
    const answer = await calls.call('pending', { agent: key, signal })
    if (answer.kind === 'unknown') return answer
    if (answer.status === 409) return this.#notHolder('pending', key, { mark, body: answer.body })
    const messages = pendingMessages(answer.body)
    return messages === undefined
      ? calls.trouble('pending', { agent: key }, 'bad-answer')
      : { kind: 'pending', messages }
  }

  /**
   * Claims messages for delivery. If it stays unknown what came of it, ask again with the same `requestKey`: a relay of
   * ours answers what the first try won. @throws the signal's reason when aborted.
   */
  async ack(agent: string, ids: readonly string[], options: RequestKeyOptions = {}): Promise<AckAnswer> {
    const key = agentKey(agent)
    if (key === undefined) return unknown('unusable-name')
    const { calls, state } = this.#context
    const mark = state.nextMark()
    const answer = await calls.call('ack', { agent: key, body: { injection_ids: ids }, ...options })
    if (answer.kind === 'unknown') return answer
    if (answer.status === 409) return this.#notHolder('ack', key, { mark, body: answer.body })
    const won = acknowledgedIds(answer.body, ids)
    return won === undefined
      ? calls.trouble('ack', { agent: key }, 'bad-answer')
      : { kind: 'acknowledged', ids: won }
  }

  /**
   * Back to the others after a failed delivery. `ackedAtMs`: when the claim was answered, Unix milliseconds.
   *
   * @throws the signal's reason when aborted.
   */
  async giveBack(
    agent: string,
    { id, ackedAtMs }: { readonly id: string; readonly ackedAtMs: number },
    options: RequestKeyOptions = {}
  ): Promise<GiveBackAnswer> {
    const key = agentKey(agent)
    if (key === undefined) return unknown('unusable-name')
    const body = { injection_id: id, delivered_at: ackedAtMs }
    const answer = await this.#context.calls.call('give-back', { agent: key, body, ...options })
    // A 409 says that it is not ours to give back: asking again would change nothing.
    return answer.kind === 'unknown' ? answer : { kind: 'given-back' }
  }

  /**
   * Leaves a message for an agent, wherever it runs. Not repeated by itself if the reply is lost: pass a `requestKey` and a
   * relay of ours keeps it once however often it is asked.
   *
   * @throws RangeError if the message is empty or over MAX_MESSAGE_BYTES; the signal's reason when aborted.
   */
  async inject(injection: Injection, options: RequestKeyOptions = {}): Promise<InjectAnswer> {
    const { message, priority } = injection
    const bytes = Buffer.byteLength(message)
    if (bytes === 0 || bytes > MAX_MESSAGE_BYTES) {
      throw new RangeError(`a message must have 1 to ${MAX_MESSAGE_BYTES} bytes, not ${bytes}`)
    }
    const target = agentKey(injection.targetAgent)
    const source = injection.sourceAgent === undefined ? undefined : agentKey(injection.sourceAgent)
    if (target === undefined || (source === undefined && injection.sourceAgent !== undefined)) {
      return unknown('unusable-name')
    }
    const { calls } = this.#context
    const answer = await calls.call('inject', {
      ...(source === undefined ? {} : { agent: source }),
      body: { target_agent: target, message, ...(priority === undefined ? {} : { priority }) },
      ...options
    })
    if (answer.kind === 'unknown') return answer
    const id = answer.status === 409 ? undefined : injectedId(answer.body)
    return id === undefined ? calls.trouble('inject', {}, 'bad-answer') : { kind: 'injected', id }
  }

  #notHolder(
    route: Route,
    key: string,
    { mark, body }: { mark: number; body: unknown }
  ): NotHolder | Unknown {
    const { calls, state } = this.#context
    const said = refusedBy(body)
    if (said === undefined) return calls.trouble(route, { agent: key }, 'bad-answer')
    // Nobody holds it: our lease has lapsed, and the next tick claims it again.
    if (said.kind === 'nobody') return unknown('changed-meanwhile')
    return { kind: 'not-holder', holder: said.holder, noted: state.noteElsewhere(key, mark, said.holder) }
  }
}
