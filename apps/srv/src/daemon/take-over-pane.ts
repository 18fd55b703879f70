/**
 * The requester's half of a take-over: a person wants the agent of a pane back, in that pane (R5). The holder lets go
 * first; then the pane's command runs again under the next epoch. What does not come about leaves no reservation behind.
 */
import {
  type HostAdmission,
  type InstanceClient,
  type OtherInstances,
  type TakeOverResult,
  takeOver
} from '@agentmux/host-admission'
import type { AgentRef } from '@agentmux/lease-model'
import type { TakeOverPane, TakeOverPaneResult } from '../http/take-over-answers.js'
import type { OpenResult, PaneView } from '../panes/pane-answers.js'
import type { PaneNotice } from '../panes/pane-notice.js'
import type { Panes } from '../panes/panes.js'

export interface PaneTakeOverPorts {
  readonly panes: Panes
  readonly admission: HostAdmission
  readonly others: OtherInstances
  readonly client: InstanceClient
  readonly onNotice?: (notice: PaneNotice) => void
}

export class PaneTakeOver implements TakeOverPane {
  readonly #ports: PaneTakeOverPorts

  constructor(ports: PaneTakeOverPorts) {
    this.#ports = ports
  }

  async takeOver(blockId: string, { signal }: { readonly signal: AbortSignal }): Promise<TakeOverPaneResult> {
    const { panes } = this.#ports
    const pane = panes.get(blockId)
    if (pane === undefined) return { kind: 'no-such-pane' }
    if (pane.state === 'running') return { kind: 'taken' }
    // What is left of it is ended first: it may be the holder.
    await panes.settled(blockId, signal)
    const agent = agentOf(pane)
    const asked = await this.#askFor(agent, signal)
    if (asked.kind !== 'free' && asked.kind !== 'released' && asked.kind !== 'this-process') {
      return notTaken(asked)
    }
    const fromChannel = asked.kind === 'released' ? asked.fromChannel : undefined
    const result = await this.#startAgain(agent, blockId, signal)
    if (result.kind !== 'opened') return notOpened(result)
    const { epoch } = result.pane
    const from = fromChannel === undefined ? {} : { fromChannel }
    this.#ports.onNotice?.({ kind: 'taken-over', agent, blockId, epoch, ...from })
    return { kind: 'taken', ...from }
  }

  #askFor(agent: AgentRef, signal: AbortSignal): Promise<TakeOverResult> {
    const { admission, others, client } = this.#ports
    const { store, holds, held } = admission
    const { instance, clock } = store
    return takeOver(
      { agent, reserveFor: 'this-process', signal },
      { store, holds, others, client, held, clock, instance }
    )
  }

  /** The agent is kept for us; unless we come to drive it, for nobody. */
  async #startAgain(agent: AgentRef, blockId: string, signal: AbortSignal) {
    const { panes, admission } = this.#ports
    let result: Awaited<ReturnType<Panes['reopen']>> | undefined
    try {
      result = await panes.reopen(blockId, signal)
      return result
    } finally {
      if (result?.kind !== 'opened') admission.holds.withdrawReservation(agent.uid, admission.store.instance)
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

function notOpened(
  result: Exclude<OpenResult, { kind: 'opened' }> | { readonly kind: 'no-such-pane' }
): TakeOverPaneResult {
  switch (result.kind) {
    case 'refused':
      return { kind: 'refused', message: result.refusal.message }
    case 'unknown': {
      const { refusal, retryAfterMs } = result
      const { message } = refusal
      return { kind: 'unknown', message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
    }
    case 'cannot-run':
      return { kind: 'refused', message: `${result.message}. The agent is free.` }
    case 'too-many':
      return { kind: 'refused', message: `${result.limit} panes run here already. The agent is free.` }
    case 'closing':
      return { kind: 'refused', message: 'this daemon is going down. The agent is free.' }
    case 'no-such-pane':
      return result
  }
}

function agentOf({ uid, agent }: PaneView): AgentRef {
  return agent === undefined ? { uid } : { uid, name: agent }
}
