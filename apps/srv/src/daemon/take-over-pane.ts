/**
 * The requester's half of a take-over: a person wants the agent of a pane back, in that pane (R5). The holder lets go
 * first; then the pane's command runs again under the next epoch. What does not come about leaves no reservation behind.
 */
import {
  type HostAdmission,
  type InstanceClient,
  LinkedAbort,
  type OtherInstances,
  TAKE_OVER_TIMEOUT_MS,
  type TakeOverResult,
  takeOver
} from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import { type AdviceOptions, takeOverMessage } from '@agentmux/refusals'
import type { PaneView } from '../panes/pane-answers.js'
import type { PaneNotice } from '../panes/pane-notice.js'
import type { Panes } from '../panes/panes.js'
import type { RelayLink } from '../relay/relay-link.js'
import type { TakeOverPane, TakeOverPaneResult } from './take-over-answer.js'

export interface PaneTakeOverPorts {
  readonly panes: Panes
  readonly admission: HostAdmission
  readonly others: OtherInstances
  readonly client: InstanceClient
  readonly relay?: Pick<RelayLink, 'takeOver' | 'notComing' | 'deniedMessage'> | undefined
  readonly advice?: AdviceOptions
  readonly onNotice?: (notice: PaneNotice) => void
  /** From beginning to end, what is left of the pane included; 25,000 unless given. */
  readonly timeoutMs?: number
}

export class PaneTakeOver {
  readonly #ports: PaneTakeOverPorts

  constructor(ports: PaneTakeOverPorts) {
    this.#ports = ports
  }

  /** Only for a person (R5). @throws the signal's reason; nothing is reserved then, and nothing runs. */
  readonly takeOver: TakeOverPane = async (blockId, signal) => {
    const { panes, admission, timeoutMs = TAKE_OVER_TIMEOUT_MS } = this.#ports
    const { clock } = admission.store
    const before = panes.get(blockId)
    if (before === undefined) return { kind: 'no-such-pane' }
    if (before.state === 'running') return { kind: 'done', released: false, pane: before }
    const bound = new LinkedAbort(signal)
    const ranOut = new Error('it did not come about in time')
    const cancelTimer = clock.after(timeoutMs, () => bound.abort(ranOut))
    try {
      return await this.#takeInto(before, bound.signal)
    } catch (error) {
      if (error !== ranOut) throw error
      const message = takeOverMessage(agentOf(before), 'ran-out', clock.wallMs(), {
        ...this.#ports.advice,
        waitedMs: timeoutMs
      })
      return { kind: 'ran-out', message }
    } finally {
      cancelTimer()
      bound.unlink()
    }
  }

  async #takeInto(before: PaneView, signal: AbortSignal): Promise<TakeOverPaneResult> {
    const { blockId } = before
    // What is left of it is ended first: it may be the holder.
    await this.#ports.panes.settled(blockId, signal)
    const agent = agentOf(before)
    const asked = await this.#askFor(agent, signal)
    if (asked.kind !== 'free' && asked.kind !== 'released' && asked.kind !== 'this-process') {
      return notTaken(asked)
    }
    const letGoBy = asked.kind === 'released' ? asked.fromChannel : undefined
    const elsewhere = await this.#takeAtRelay(agent, { letGoBy, signal })
    if (elsewhere !== undefined) return { kind: 'refused', message: elsewhere }
    const result = await this.#startAgain(agent, blockId, signal)
    if (result.kind === 'no-such-pane') return result
    if (result.kind !== 'opened') return { kind: 'not-opened', result }
    const { pane } = result
    const from = asked.kind === 'released' ? { fromChannel: asked.fromChannel } : {}
    this.#ports.onNotice?.({ kind: 'taken-over', agent, blockId, epoch: pane.epoch, ...from })
    return asked.kind === 'released'
      ? { kind: 'done', released: true, fromChannel: asked.fromChannel, pane }
      : { kind: 'done', released: false, pane }
  }

  #askFor(agent: AgentRef, signal: AbortSignal | undefined): Promise<TakeOverResult> {
    const { admission, others, client, advice } = this.#ports
    const { store, holds, held } = admission
    const { instance, clock } = store
    return takeOver(
      { agent, reserveFor: 'this-process', signal },
      { store, holds, others, client, held, clock, instance, advice }
    )
  }

  /** Undefined where nothing stands in the way: a relay that does not answer does not (R7). */
  async #takeAtRelay(
    agent: AgentRef,
    options: { letGoBy: string | undefined; signal: AbortSignal }
  ): Promise<string | undefined> {
    const { relay, admission } = this.#ports
    if (relay === undefined || agent.name === undefined) return undefined
    let free = false
    try {
      const taken = await relay.takeOver(agent.name, options)
      free = taken.kind !== 'held-elsewhere'
      return taken.kind === 'held-elsewhere' ? relay.deniedMessage(agent, taken.holder) : undefined
    } finally {
      if (!free) admission.holds.withdrawReservation(agent.uid)
    }
  }

  /** The agent is kept for us until we drive it, or will not. */
  async #startAgain(agent: AgentRef, blockId: string, signal: AbortSignal | undefined) {
    const { panes, admission, relay } = this.#ports
    let opened = false
    try {
      const result = await panes.reopen(blockId, signal)
      opened = result.kind === 'opened'
      return result
    } finally {
      admission.holds.withdrawReservation(agent.uid)
      if (!opened && agent.name !== undefined) relay?.notComing(agent.name)
    }
  }
}

type Failed = Exclude<TakeOverResult, { kind: 'free' | 'released' | 'this-process' }>

function notTaken(result: Failed): TakeOverPaneResult {
  const { message } = result
  switch (result.kind) {
    case 'unknown': {
      const { retryAfterMs } = result
      return { kind: 'unknown', message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    }
    case 'ran-out':
      return { kind: 'ran-out', message }
    default:
      return { kind: 'refused', message }
  }
}

function agentOf({ uid, agent }: PaneView): AgentRef {
  return agent === undefined ? { uid } : { uid, name: agent }
}
