/**
 * The three questions that instances on one computer ask each other, each with the time and size the protocol allows.
 * An answer is what the protocol says or is no answer; only the caller's abort is thrown.
 */
import type { Clock } from '@agentmux/lease-model'
import { askLoopback } from './ask-loopback.js'
import { type Holding, parseHolding } from './holding.js'
import type { InstanceEndpoint } from './instance-endpoint.js'
import { parseRegistrations, type Registration } from './registration.js'
import { type ReleaseAnswer, type ReleaseRequest, readReleaseAnswer, releaseBody } from './release-answer.js'
import { type Unanswered, unanswered } from './unanswered.js'

export type RegistrationsAnswer =
  | { readonly kind: 'registrations'; readonly registrations: readonly Registration[] }
  | Unanswered

export type HoldingAnswer = { readonly kind: 'holding'; readonly holding: Holding } | Unanswered

export interface InstanceClientOptions {
  readonly clock: Clock
  /** For a question, milliseconds; 1,500 unless given. */
  readonly probeTimeoutMs?: number
  /** For a release, which waits for what runs there to finish, milliseconds; 30,000 unless given. */
  readonly releaseTimeoutMs?: number
}

const PROBE_TIMEOUT_MS = 1_500
const RELEASE_TIMEOUT_MS = 30_000
/** Some ten thousand registrations. */
const MAX_LIST_BYTES = 4 * 1024 * 1024
const MAX_ANSWER_BYTES = 64 * 1024

export class InstanceClient {
  readonly #clock: Clock
  readonly #probeTimeoutMs: number
  readonly #releaseTimeoutMs: number

  constructor(options: InstanceClientOptions) {
    this.#clock = options.clock
    this.#probeTimeoutMs = options.probeTimeoutMs ?? PROBE_TIMEOUT_MS
    this.#releaseTimeoutMs = options.releaseTimeoutMs ?? RELEASE_TIMEOUT_MS
  }

  /** The agents that run there. */
  async registrations(endpoint: InstanceEndpoint, signal?: AbortSignal): Promise<RegistrationsAnswer> {
    const answer = await this.#get(endpoint, {
      path: '/agentmux/reactive/agents',
      maxBytes: MAX_LIST_BYTES,
      signal
    })
    const registrations =
      answer.kind === 'answered' && answer.status === 200 ? parseRegistrations(answer.body) : undefined
    return registrations === undefined ? unanswered(answer) : { kind: 'registrations', registrations }
  }

  /** Whether it holds the agent's lease. */
  async holding(endpoint: InstanceEndpoint, uid: string, signal?: AbortSignal): Promise<HoldingAnswer> {
    const answer = await this.#get(endpoint, {
      path: `/agentmux/agent/holding?uid=${encodeURIComponent(uid)}`,
      maxBytes: MAX_ANSWER_BYTES,
      signal
    })
    const holding =
      answer.kind === 'answered' && answer.status === 200 ? parseHolding(answer.body) : undefined
    return holding === undefined ? unanswered(answer) : { kind: 'holding', holding }
  }

  /** Asks it to let the agent go, and waits until it has. Only a take-over that a person started may call this (R5). */
  async requestRelease(
    endpoint: InstanceEndpoint,
    request: ReleaseRequest,
    signal?: AbortSignal
  ): Promise<ReleaseAnswer> {
    const answer = await askLoopback(
      endpoint,
      {
        method: 'POST',
        path: '/agentmux/agent/release',
        body: releaseBody(request),
        timeoutMs: this.#releaseTimeoutMs,
        maxBytes: MAX_ANSWER_BYTES
      },
      { clock: this.#clock, signal }
    )
    return readReleaseAnswer(answer)
  }

  #get(
    endpoint: InstanceEndpoint,
    { path, maxBytes, signal }: { path: string; maxBytes: number; signal: AbortSignal | undefined }
  ) {
    return askLoopback(
      endpoint,
      { method: 'GET', path, timeoutMs: this.#probeTimeoutMs, maxBytes },
      { clock: this.#clock, signal }
    )
  }
}
