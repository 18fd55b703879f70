/**
 * Lets the holder of a lease append to the agent's record, and nobody who lost it (R4). On memory alone while the last
 * confirmation is at most one TTL old by the boot clock, so that a turn costs no look at the lease; after that the lease
 * file is asked first. Behind it stands the log, which turns old epochs away by itself.
 */
import type { AgentRef, Clock } from '@agentmux/lease-model'
import type { HeldCheck, LostCheck } from '../held-answers.js'
import type { AppendResult } from './append.js'
import type { RecordEvent } from './record-line.js'
import type { SharedRecord } from './shared-record.js'

/** What the fence asks of a lease. HeldAgentLease is one. */
export interface FencedLease {
  readonly agent: AgentRef
  readonly epoch: number
  /** What memory says. */
  readonly held: boolean
  /** Asks the lease file. Throws if it cannot be read: neither held nor lost. */
  verify(): Promise<HeldCheck>
}

export interface RecordFencePorts {
  readonly record: Pick<SharedRecord, 'appendIf'>
  readonly clock: Clock
  /** The TTL of the lease, milliseconds. */
  readonly ttlMs: number
}

export type FencedAppend = AppendResult | LostCheck

export class RecordFence {
  readonly #lease: FencedLease
  readonly #ports: RecordFencePorts
  #confirmedAtMs = Number.NEGATIVE_INFINITY
  #checking: Promise<HeldCheck> | undefined

  /** One per held lease. The first append asks the lease file. */
  constructor(lease: FencedLease, ports: RecordFencePorts) {
    this.#lease = lease
    this.#ports = ports
  }

  /** The lease was confirmed by something that began at this boot time, milliseconds: a claim, a renewal, a check. */
  confirmed(startedAtMs: number): void {
    const nowMs = this.#ports.clock.bootMs()
    this.#confirmedAtMs = Math.max(this.#confirmedAtMs, Math.min(startedAtMs, nowMs))
  }

  /**
   * `appended` only if the lease was held just before the write, as far as memory of at most one TTL can tell.
   * `rejected`: a higher epoch is in the record although the lease file still names us.
   *
   * @throws LeaseFault if the lease file has to be asked and cannot be read; RecordFault. See SharedRecord.append.
   */
  async append(
    events: readonly RecordEvent[],
    options: { durable?: boolean; signal?: AbortSignal } = {}
  ): Promise<FencedAppend> {
    const { agent, epoch } = this.#lease
    for (;;) {
      const check = await this.check()
      if (check.kind === 'lost') return check
      const result = await this.#ports.record.appendIf(agent.uid, { ...options, events, epoch }, () =>
        this.#allowed()
      )
      // Waiting for the lock took longer than the memory is good for, or the lease was lost meanwhile: ask again.
      if (result.kind === 'withheld') continue
      if (result.kind === 'appended') return result
      const after = await this.#ask()
      return after.kind === 'lost' ? after : result
    }
  }

  /**
   * Whether the lease is held: from memory while that is good enough, else from the file.
   *
   * @throws LeaseFault if the lease file cannot be read.
   */
  async check(): Promise<HeldCheck> {
    return this.#allowed() ? { kind: 'held' } : this.#ask()
  }

  /** Whether memory alone allows it at this very moment: for what follows an append and must not come too late. */
  get allowsNow(): boolean {
    return this.#allowed()
  }

  #allowed(): boolean {
    return this.#lease.held && this.#ports.clock.bootMs() - this.#confirmedAtMs <= this.#ports.ttlMs
  }

  /** Once, however many wait for the answer. */
  #ask(): Promise<HeldCheck> {
    this.#checking ??= this.#verify().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #verify(): Promise<HeldCheck> {
    const startedAtMs = this.#ports.clock.bootMs()
    const check = await this.#lease.verify()
    if (check.kind === 'held') this.confirmed(startedAtMs)
    return check
  }
}
