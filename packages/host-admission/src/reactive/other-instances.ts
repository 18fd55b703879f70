/**
 * The other instances on this computer, as the reactive registry names them: who answers for a channel or a holder, and
 * whether one of them runs an agent without a lease, as older builds do. What they say about names is not evidence (R1).
 */
import { setMaxListeners } from 'node:events'
import type { Holder } from '@agentmux/lease-model'
import type { InstanceClient } from '../instance/instance-client.js'
import type { InstanceEndpoint } from '../instance/instance-endpoint.js'
import type { Registration } from '../instance/registration.js'
import { unansweredText } from '../instance/unanswered.js'
import { comparableUid } from '../same-uid.js'
import type { ReactiveRegistry } from './reactive-registry.js'
import type { RegistryEntry } from './registry-entry.js'

export interface OtherInstancesOptions {
  readonly registry: ReactiveRegistry
  readonly client: InstanceClient
  /** Ours, as it stands in a lease: they run on the same host. */
  readonly hostname: string
}

export type ProbeResult =
  | { readonly kind: 'held'; readonly holder: Holder; readonly endpoint: InstanceEndpoint }
  /** Nobody said that he runs it. Those who said nothing may: `silent` is for the log (R8). */
  | { readonly kind: 'nobody'; readonly silent: readonly SilentInstance[] }

export interface SilentInstance {
  readonly endpoint: InstanceEndpoint
  /** In a few words. */
  readonly why: string
}

/** Asked at once; more than run on any computer. */
const MAX_ASKED = 256

export class OtherInstances {
  readonly #registry: ReactiveRegistry
  readonly #client: InstanceClient
  readonly #hostname: string

  constructor(options: OtherInstancesOptions) {
    this.#registry = options.registry
    this.#client = options.client
    this.#hostname = options.hostname
  }

  /** The instance of a channel that was heard of last; undefined if none runs. */
  endpointForChannel(channel: string): InstanceEndpoint | undefined {
    return this.endpointsOf({ pid: 0, channel })[0]
  }

  /**
   * Who may be the holder that a lease names, the likeliest first: the process itself, then whoever has its channel,
   * latest first. Two instances may share a channel, so only their answers tell.
   */
  endpointsOf(holder: { readonly pid: number; readonly channel: string }): InstanceEndpoint[] {
    const entries = this.#registry.entriesOfOthers().sort((a, b) => b.updatedAtMs - a.updatedAtMs)
    const byPid = entries.filter((entry) => holder.pid > 0 && entry.pid === holder.pid)
    const byChannel = entries.filter((entry) => holder.channel !== '' && entry.channel === holder.channel)
    return endpointsIn([...byPid, ...byChannel])
  }

  /**
   * Asks every other instance at once whether it runs an agent of this UID. The first that does ends the question.
   *
   * @throws the signal's reason when aborted.
   */
  async probeOtherInstances(uid: string, signal?: AbortSignal): Promise<ProbeResult> {
    signal?.throwIfAborted()
    const endpoints = endpointsIn(this.#registry.entriesOfOthers()).slice(0, MAX_ASKED)
    if (endpoints.length === 0) return { kind: 'nobody', silent: [] }
    const enough = new AbortController()
    // One listener per question is no leak.
    setMaxListeners(MAX_ASKED, enough.signal)
    const onAbort = () => enough.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const wanted = comparableUid(uid)
    const silent: SilentInstance[] = []
    try {
      return await new Promise<ProbeResult>((resolve, reject) => {
        const questions = endpoints.map(async (endpoint) => {
          const answer = await this.#client.registrations(endpoint, enough.signal)
          if (answer.kind !== 'registrations') {
            silent.push({ endpoint, why: unansweredText(answer) })
            return
          }
          const found = answer.registrations.find((one) => comparableUid(one.uid) === wanted)
          if (found !== undefined) resolve({ kind: 'held', holder: this.#holder(endpoint, found), endpoint })
        })
        Promise.all(questions).then(() => resolve({ kind: 'nobody', silent }), reject)
      })
    } finally {
      signal?.removeEventListener('abort', onAbort)
      enough.abort()
    }
  }

  #holder(endpoint: InstanceEndpoint, { registeredAtMs, blockId }: Registration): Holder {
    return {
      place: 'this-host',
      hostname: this.#hostname,
      channel: endpoint.channel,
      version: '',
      pid: endpoint.pid,
      acquiredAtMs: registeredAtMs,
      epoch: 0,
      blockId
    }
  }
}

/** Each once: an instance has an entry for every agent it runs. */
function endpointsIn(entries: readonly RegistryEntry[]): InstanceEndpoint[] {
  const endpoints = new Map<string, InstanceEndpoint>()
  for (const { endpoint } of entries) {
    if (endpoint === undefined) continue
    const identity = `${endpoint.url} ${endpoint.authKey}`
    if (!endpoints.has(identity)) endpoints.set(identity, endpoint)
  }
  return [...endpoints.values()]
}
