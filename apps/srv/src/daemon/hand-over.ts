/**
 * The holder's half of a take-over: another instance asks for an agent, on behalf of a person (R5). Keeps true that the
 * reservation for it is up before anything is stopped, and comes down again if nothing was handed over or nobody waits for
 * it. What we do not hold, a `run` of our channel may: the request is passed on to it.
 */
import {
  askToLetGo,
  HOLD_MS,
  type HostAdmission,
  type InstanceClient,
  locateHolder,
  type OtherInstances,
  type ReleaseRequest
} from '@agentmux/host-admission'
import { unnamedHolder } from '@agentmux/lease-model'
import { leaseKey } from '@agentmux/lease-store'
import {
  type AdviceOptions,
  handingOverMessage,
  type Refusal,
  staysHeldMessage,
  takenOverRefusal
} from '@agentmux/refusals'
import type { LetGoResult } from '../panes/let-panes-go.js'
import type { Panes } from '../panes/panes.js'
import type { RelayLink } from '../relay/relay-link.js'
import type { HandOver, Released } from './release-answer.js'

export interface PaneHandOverPorts {
  readonly panes: Panes
  readonly admission: HostAdmission
  readonly others: OtherInstances
  readonly client: InstanceClient
  /** Lets go there too before the answer, so that the successor is not refused there. */
  readonly relay?: Pick<RelayLink, 'release'> | undefined
  /** What can be done in a pane that let its agent go. */
  readonly advice?: AdviceOptions
}

interface UnderWay {
  readonly request: ReleaseRequest
  /** Each is aborted when the one who asked does not wait any more. */
  readonly askers: (AbortSignal | undefined)[]
  readonly released: Promise<Released>
}

/** All panes of the agent have this long to end by themselves. */
const GRACE_MS = 10_000

export class PaneHandOver implements HandOver {
  readonly #ports: PaneHandOverPorts
  readonly #underWay = new Map<string, UnderWay>()

  constructor(ports: PaneHandOverPorts) {
    this.#ports = ports
  }

  /** @throws TypeError or RangeError for what cannot be a UID; LeaseFault if it cannot be read who holds it. */
  release(request: ReleaseRequest, signal?: AbortSignal): Promise<Released> {
    // Whoever has given up must not stop anything any more (R5).
    if (signal?.aborted) return Promise.resolve({ released: 0 })
    const uid = this.#ports.panes.uidDrivenHere(request.uid)
    if (uid === undefined) return this.#passOn(request, signal)
    const before = this.#underWay.get(uid)
    if (before !== undefined) {
      // It goes to whoever asked first.
      if (isSame(before.request, request)) {
        before.askers.push(signal)
        return before.released
      }
      const refused = handingOverMessage(before.request.requestedByChannel)
      return Promise.resolve({ released: 0, refused })
    }
    const askers = [signal]
    const released = this.#release(uid, request, askers).finally(() => this.#underWay.delete(uid))
    this.#underWay.set(uid, { request, askers, released })
    return released
  }

  /** Nothing waits before the hold is up: nobody here may start the agent from now on. */
  async #release(
    uid: string,
    request: ReleaseRequest,
    askers: readonly (AbortSignal | undefined)[]
  ): Promise<Released> {
    const { panes, admission } = this.#ports
    const { requestedByChannel: toChannel, requestedByVersion: toVersion } = request
    const hold = admission.holds.holdAfterHandover(uid, { channel: toChannel, version: toVersion })
    const names = this.#namesOf(uid)
    let result: LetGoResult | undefined
    try {
      result = await panes.letGo(uid, {
        graceMs: GRACE_MS,
        toChannel,
        toVersion,
        refusal: () => this.#supersededBy(uid, request)
      })
    } finally {
      if (askers.every((asker) => asker?.aborted)) hold.drop()
      else if (result?.kind !== 'released' || result.released === 0) hold.withdraw()
    }
    // Nothing of it runs any more. Whoever asked need not know by which name the relay keeps it.
    const { relay } = this.#ports
    if (relay !== undefined && result.kind === 'released') {
      await Promise.all(names.map((name) => relay.release(name)))
    }
    if (result.kind === 'kept') return { released: 0, refused: staysHeldMessage(result.processes) }
    return { released: result.released }
  }

  #namesOf(uid: string): string[] {
    const names = this.#ports.panes.list().flatMap((pane) => {
      const isOurs = pane.uid === uid && pane.endedAtMs === undefined && pane.agent !== undefined
      return isOurs ? [pane.agent] : []
    })
    return [...new Set(names)]
  }

  #supersededBy(uid: string, request: ReleaseRequest): Refusal {
    const { store, claimant } = this.#ports.admission
    const holder = {
      ...unnamedHolder('this-host'),
      hostname: claimant.hostname,
      channel: request.requestedByChannel,
      version: request.requestedByVersion
    }
    const agent = request.agent === undefined ? { uid } : { uid, name: request.agent }
    const options = { ...this.#ports.advice, retryAfterMs: HOLD_MS, wasRunning: true }
    return takenOverRefusal(agent, holder, store.clock.wallMs(), options)
  }

  /** Only to the process that the lease names, and only if it is of our channel: a request never goes in a circle. */
  async #passOn(request: ReleaseRequest, signal: AbortSignal | undefined): Promise<Released> {
    const { admission, others, client } = this.#ports
    const { store } = admission
    signal?.throwIfAborted()
    const located = await locateHolder(leaseKey(request.uid), { store, held: [], others })
    if (located.kind !== 'found' && located.kind !== 'unknown') return { released: 0 }
    const { holder } = located
    if (holder.channel !== store.instance.channel) return { released: 0 }
    const endpoints = located.endpoints.filter(({ pid }) => holder.pid === 0 || pid === holder.pid)
    const letGo = await askToLetGo(endpoints, request, { client, signal })
    const answer = letGo?.answer
    if (answer?.kind === 'refused') return { released: 0, refused: answer.error }
    return { released: answer?.kind === 'released' ? answer.count : 0 }
  }
}

function isSame(one: ReleaseRequest, other: ReleaseRequest): boolean {
  return (
    one.requestedByChannel === other.requestedByChannel && one.requestedByVersion === other.requestedByVersion
  )
}
