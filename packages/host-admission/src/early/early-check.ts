/**
 * Whether an agent may be started here, asked before anything shared is written (R9). It reads and asks, takes no lock and
 * creates nothing (R6); the claim that follows decides. The host's own tier fails closed, the others fail open (R7).
 */
import type { AgentRef, Clock } from '@agentmux/lease-model'
import { LeaseFault, type LeaseStore, type LookResult } from '@agentmux/lease-store'
import { type AdviceOptions, heldRefusal, type Refusal, unknownRefusal } from '@agentmux/refusals'
import type { OtherInstances } from '../reactive/other-instances.js'
import { refusalOfFault } from '../refusal-of.js'
import type { HandoverHolds } from '../takeover/handover-holds.js'
import { askTier, type ElsewhereTier } from './held-elsewhere.js'

/** Who said so, in the order in which they are asked. */
export type CheckedBy = 'handover-hold' | 'lease' | 'relay' | 'lan' | 'probe'

export type EarlyAnswer =
  | { readonly kind: 'pass' }
  | { readonly kind: 'refused'; readonly by: CheckedBy; readonly refusal: Refusal }
  /** The lease does not tell, or cannot be read. Nothing is started then either. */
  | { readonly kind: 'unknown'; readonly by: CheckedBy; readonly refusal: Refusal }

/** Something could not be found out, and the check went on without it (R8). */
export interface Doubt {
  readonly agent: AgentRef
  readonly by: CheckedBy
  readonly why: string
}

export interface EarlyCheckOptions {
  readonly store: LeaseStore
  readonly holds: HandoverHolds
  readonly others: OtherInstances
  readonly clock: Clock
  /** Asked in this order: the relay's cached answer, then the LAN. */
  readonly tiers?: readonly ElsewhereTier[]
  /** What a refused person can do here. */
  readonly advice?: AdviceOptions
  /** For the log. */
  readonly onDoubt?: (doubt: Doubt) => void
}

export class EarlyCheck {
  readonly #options: EarlyCheckOptions

  constructor(options: EarlyCheckOptions) {
    this.#options = options
  }

  /**
   * The first that objects is the answer. An agent without a UID cannot be held by anybody and passes.
   *
   * @throws TypeError or RangeError for what cannot be a UID; the signal's reason when aborted.
   */
  async checkBeforeSpawn(
    agent: AgentRef,
    options: { signal?: AbortSignal | undefined } = {}
  ): Promise<EarlyAnswer> {
    const { signal } = options
    signal?.throwIfAborted()
    if (agent.uid === '') return { kind: 'pass' }
    const held = this.#checkHold(agent) ?? this.#checkLease(agent)
    if (held !== undefined) return held
    for (const tier of this.#options.tiers ?? []) {
      const refused = await this.#checkTier(tier, agent, signal)
      if (refused !== undefined) return refused
    }
    return (await this.#probe(agent, signal)) ?? { kind: 'pass' }
  }

  #checkHold(agent: AgentRef): EarlyAnswer | undefined {
    const refusal = this.#options.holds.refusalFor(agent, this.#options.advice)
    return refusal && { kind: 'refused', by: 'handover-hold', refusal }
  }

  #checkLease(agent: AgentRef): EarlyAnswer | undefined {
    const { store, clock, advice = {} } = this.#options
    let look: LookResult
    try {
      look = store.liveHolderOtherThan(agent.uid, store.instance.ownerBootId)
    } catch (fault) {
      if (!(fault instanceof LeaseFault)) throw fault
      return { kind: 'unknown', by: 'lease', refusal: refusalOfFault(agent, fault) }
    }
    if (look.kind === 'free' || look.kind === 'over') return undefined
    const { holder } = look
    if (look.kind === 'held') {
      return { kind: 'refused', by: 'lease', refusal: heldRefusal(agent, holder, clock.wallMs(), advice) }
    }
    const named = holder.hostname !== '' || holder.pid > 0
    const options = { ...advice, ...(named ? { holder } : { reason: 'unreadable' as const }) }
    const refusal = unknownRefusal(agent, look.retryAfterMs, clock.wallMs(), options)
    return { kind: 'unknown', by: 'lease', refusal }
  }

  async #checkTier(
    tier: ElsewhereTier,
    agent: AgentRef,
    signal: AbortSignal | undefined
  ): Promise<EarlyAnswer | undefined> {
    const { clock, advice } = this.#options
    const answer = await askTier(tier, agent, { clock, signal })
    if (answer.kind === 'unknown') this.#tell({ agent, by: tier.name, why: answer.why })
    if (answer.kind !== 'held') return undefined
    const refusal = heldRefusal(agent, answer.holder, clock.wallMs(), advice)
    return { kind: 'refused', by: tier.name, refusal }
  }

  async #probe(agent: AgentRef, signal: AbortSignal | undefined): Promise<EarlyAnswer | undefined> {
    const { others, clock, advice } = this.#options
    const probe = await others.probeOtherInstances(agent.uid, signal)
    if (probe.kind === 'held') {
      return {
        kind: 'refused',
        by: 'probe',
        refusal: heldRefusal(agent, probe.holder, clock.wallMs(), advice)
      }
    }
    for (const { endpoint, why } of probe.silent) {
      this.#tell({ agent, by: 'probe', why: `${endpoint.url} (pid ${endpoint.pid}): ${why}` })
    }
    return undefined
  }

  #tell(doubt: Doubt): void {
    this.#options.onDoubt?.(doubt)
  }
}
