/**
 * The leases that one instance has at the relay: at most one holder per agent and account, across computers that share
 * nothing but the internet. It detects and yields, it does not prevent: whatever the relay does, or does not say, nothing
 * local stops but by a definite "held elsewhere" (R7). It never takes an agent over but by `takeOver` (R5).
 */
import type { Holder } from '@agentmux/lease-model'
import { agentKey } from './agent-key.js'
import { ensureLease, takeLease } from './claim-lease.js'
import { holderFragment, isOnThisComputer } from './describe-holder.js'
import type { HolderAnswer } from './holder-answer.js'
import type { BatchAnswer, EnsureAnswer, ReleaseAnswer, TakeOverAnswer } from './lease-answers.js'
import type { LeaseContext, OperationOptions } from './lease-context.js'
import { queryHolder } from './query-holder.js'
import { instanceIdOf } from './relay-identity.js'
import { releaseLease } from './release-lease.js'
import { renewHeld } from './renew-held-batch.js'
import { type UnknownWhy, unknown } from './unknown-why.js'

/** When a request began, in the order of everything that happens to the leases. From `mark`. */
export type RequestMark = number

export class RelayLeases {
  readonly #context: LeaseContext

  constructor(context: LeaseContext) {
    this.#context = context
  }

  /** `<host label>/<channel>`, which the relay knows us by. */
  get instanceId(): string {
    return instanceIdOf(this.#context.identity)
  }

  /**
   * Claims the agent, or renews a lease that was not confirmed for RENEW_EVERY_MS; a lease that was is `held` without a
   * request. @throws the signal's reason when aborted.
   */
  async ensure(agent: string, options: OperationOptions = {}): Promise<EnsureAnswer> {
    const key = agentKey(agent)
    return key === undefined ? unknown('unusable-name') : ensureLease(this.#context, key, options)
  }

  /**
   * Renews everything held, or what of it is in `agents`, in one request per MAX_BATCH; claims again what had lapsed.
   *
   * @throws the signal's reason when aborted.
   */
  async renewHeldBatch(
    options: OperationOptions & { readonly agents?: Iterable<string> } = {}
  ): Promise<BatchAnswer> {
    const keys = options.agents === undefined ? this.#context.state.heldKeys() : keysOf(options.agents)
    return renewHeld(this.#context, keys, options)
  }

  /** Lets go of the agent, unless somebody here wants it again. @throws the signal's reason when aborted. */
  async release(agent: string, options: OperationOptions = {}): Promise<ReleaseAnswer> {
    const key = agentKey(agent)
    return key === undefined ? { kind: 'not-held' } : releaseLease(this.#context, key, options)
  }

  /**
   * Takes the lease from whoever has it, within one account, under the next epoch. Only for a take-over that a person asked
   * for (R5), after the holder has let go where it runs. @throws the signal's reason when aborted.
   */
  async takeOver(agent: string, options: OperationOptions = {}): Promise<TakeOverAnswer> {
    const key = agentKey(agent)
    return key === undefined ? unknown('unusable-name') : takeLease(this.#context, key, options)
  }

  /** Who holds the agent, as the relay says. A read (R6). @throws the signal's reason when aborted. */
  async holder(agent: string, options: OperationOptions = {}): Promise<HolderAnswer> {
    const key = agentKey(agent)
    return key === undefined ? unknown('unusable-name') : queryHolder(this.#context, key, options)
  }

  /** Whether the last definite answer said that we hold the agent. */
  isHeld(agent: string): boolean {
    const key = agentKey(agent)
    return key !== undefined && this.#context.state.entries.get(key)?.held === true
  }

  /** Everything that `isHeld`, by the names the relay keeps. */
  held(): string[] {
    return this.#context.state.heldKeys()
  }

  /** Everything held, and what may be: a claim or a release without an answer. All of it is to be let go at the end. */
  unreleased(): string[] {
    return this.#context.state.mayHoldKeys()
  }

  /**
   * Calls `listener`, which must not throw, with the name the relay keeps whenever it confirms a lease that we did not hold
   * before: what waited for a holder can go on. Returns what ends it.
   */
  onNewlyHeld(listener: (agent: string) => void): () => void {
    const { newlyHeld } = this.#context.state
    newlyHeld.add(listener)
    return () => newlyHeld.delete(listener)
  }

  /** Who holds the agent instead of us, if the relay said so in the last ELSEWHERE_GOOD_FOR_MS. Asks nobody. */
  heldElsewhere(agent: string): Holder | undefined {
    const key = agentKey(agent)
    return key === undefined ? undefined : this.#context.state.elsewhere(key)
  }

  /** `heldElsewhere`, if it is an instance with our host label. */
  heldOnThisComputerBy(agent: string): Holder | undefined {
    const holder = this.heldElsewhere(agent)
    return holder !== undefined && this.holderOnThisComputer(holder) ? holder : undefined
  }

  /** `heldElsewhere`, if it is one with another host label. */
  heldOnAnotherComputer(agent: string): Holder | undefined {
    const holder = this.heldElsewhere(agent)
    return holder !== undefined && !this.holderOnThisComputer(holder) ? holder : undefined
  }

  /** By its host label: two computers may have the same. */
  holderOnThisComputer(holder: Holder): boolean {
    return isOnThisComputer(holder, this.#context.identity)
  }

  /** The refusal no longer counts, and one that is under way will not: a take-over has made room. */
  forgetElsewhere(agent: string): void {
    const key = agentKey(agent)
    if (key !== undefined) this.#context.state.clearElsewhere(key)
  }

  /** For a request that may be answered with "not the holder": when it began, for `noteNotHolderSince`. */
  mark(): RequestMark {
    return this.#context.state.nextMark()
  }

  /**
   * A request that began at `since` was told that we are not the holder. False, and ignored, if a take-over cleared the
   * refusal, or the relay confirmed the lease, to anything that began later.
   */
  noteNotHolderSince(agent: string, since: RequestMark, holder: Holder): boolean {
    const key = agentKey(agent)
    return key !== undefined && this.#context.state.noteElsewhere(key, since, holder)
  }

  /** `this computer, channel dev, v0.44.1`: for the middle of a sentence. Empty if nothing is known. */
  describeHolder(holder: Holder): string {
    return holderFragment(holder, this.#context.identity)
  }

  /** Why the relay's last word was none; undefined after an answer, and before the first request. */
  lastTrouble(): UnknownWhy | undefined {
    return this.#context.state.lastTrouble
  }
}

function keysOf(agents: Iterable<string>): string[] {
  const keys = new Set<string>()
  for (const agent of agents) {
    const key = agentKey(agent)
    if (key !== undefined) keys.add(key)
  }
  return [...keys]
}
