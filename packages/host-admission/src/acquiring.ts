/**
 * The way from the question for an agent to its lease: hold, what is left of our own older claims, claim, guard, record.
 * Keeps true that nothing shared is written before the answer (R9), and that a lease which does not reach its caller is
 * given back.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AgentRef } from '@agentmux/lease-model'
import { LeaseFault } from '@agentmux/lease-store'
import type { AcquireOptions, AcquireResult } from './admission-options.js'
import { type ClaimHome, claimAtSpawn, type GrantedClaim, heldForAnother } from './claim-at-spawn.js'
import type { EndedProcesses } from './claim-processes.js'
import { HeldAgentLease } from './held-agent-lease.js'
import type { HeldByName } from './held-by-name.js'
import type { HeldLeases } from './held-leases.js'
import type { LeaseHome } from './lease-home.js'
import { RecordFault } from './record/record-fault.js'
import { refusalOfFault, refusalOfLoss, refusalOfRemaining } from './refusal-of.js'
import type { Watchdog } from './watchdog.js'

export interface AcquiringHome {
  readonly claims: ClaimHome
  readonly leases: LeaseHome
  readonly held: HeldLeases
  readonly names: HeldByName
}

export class Acquiring {
  readonly #home: AcquiringHome

  constructor(home: AcquiringHome) {
    this.#home = home
  }

  /** @throws the signal's reason, AdmissionFault. Nothing is held then. */
  async acquire(
    agent: AgentRef,
    options: AcquireOptions,
    { watchdog, signal }: { watchdog: Watchdog; signal: AbortSignal }
  ): Promise<AcquireResult> {
    const superseded: HeldAgentLease[] = []
    let granted = false
    try {
      // A claim that nobody contends never waits for anything: thousands in a row would keep every renewal waiting.
      await nextTurn()
      // Before anything of ours is ended: a hold keeps what runs here as it is.
      const kept = heldForAnother(this.#home.claims, agent)
      if (kept !== undefined) return kept
      const ended = await this.#endOwn(agent.uid, options.blockId, superseded)
      if (ended.kind === 'remaining') {
        return { kind: 'refused', refusal: refusalOfRemaining(agent, ended.processes) }
      }
      signal.throwIfAborted()
      const result = await claimAtSpawn(this.#home.claims, agent, { options, signal })
      if (result.kind !== 'granted') return result
      granted = true
      return await this.#hold(agent, result, { options, watchdog, signal })
    } catch (fault) {
      if (!(fault instanceof LeaseFault || fault instanceof RecordFault)) throw fault
      return { kind: 'unknown', refusal: refusalOfFault(agent, fault) }
    } finally {
      // Nothing runs under them any more; kept until here so that a new claim has their epoch and their start.
      if (!granted) for (const lease of superseded) await lease.release()
    }
  }

  /** Before a claim nothing of ours may be left of an older one: whoever claims after a crash only knows the newest. */
  async #endOwn(uid: string, blockId: string, superseded: HeldAgentLease[]): Promise<EndedProcesses> {
    for (const lease of this.#home.held.of(uid)) {
      if (lease.blockId !== blockId && lease.loss === undefined) continue
      superseded.push(lease)
      const ended = await lease.supersede()
      if (ended.kind === 'remaining') return ended
    }
    return { kind: 'ended', count: 0 }
  }

  /** From the grant to the caller: guarded from the first moment, and given back if anything goes wrong. */
  async #hold(
    agent: AgentRef,
    { lease: claimed, previous }: GrantedClaim,
    { options, watchdog, signal }: { options: AcquireOptions; watchdog: Watchdog; signal: AbortSignal }
  ): Promise<AcquireResult> {
    const lease = new HeldAgentLease(this.#home.leases, claimed, agent)
    this.#home.held.add(lease)
    this.#home.names.add(lease)
    lease.begin(
      watchdog.guard(lease.claimId, claimed.renewedBootMs, () => lease.fence()),
      previous
    )
    let handedOver = false
    try {
      // Without the watchdog nothing may be started.
      await watchdog.ready(signal)
      await this.#makeKnown(lease, signal)
      signal.throwIfAborted()
      if (lease.loss !== undefined) return { kind: 'refused', refusal: lease.loss }
      if (options.onLost !== undefined) lease.listen(options.onLost)
      handedOver = true
      return { kind: 'granted', lease }
    } finally {
      if (!handedOver)
        await lease.release().catch((fault: unknown) => this.#home.leases.onFault(agent, fault))
    }
  }

  /** From here on the record turns away what an older holder still sends. A later epoch in it means that we are not the last. */
  async #makeKnown(lease: HeldAgentLease, signal: AbortSignal): Promise<void> {
    const { record, clock } = this.#home.claims
    if (record === undefined) return
    const { agent, epoch } = lease
    const result = await record.append(agent.uid, { events: [], epoch, signal })
    if (result.kind === 'rejected') lease.fence(refusalOfLoss(agent, { why: 'taken' }, clock))
  }
}
