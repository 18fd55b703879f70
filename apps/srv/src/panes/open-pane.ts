/**
 * From the request to a running child: asks whether the agent may be driven here, claims it, and starts the command under
 * the lease. Nothing shared is written before the claim is granted (R9); whatever fails after it gives the agent back.
 */
import {
  AdmissionFault,
  type EarlyCheck,
  type HeldAgentLease,
  type HostAdmission,
  RecordFence,
  type SharedRecord
} from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import { plainText } from '@agentmux/refusals'
import { childEnvironment } from '../child-environment.js'
import type { OpenRequest, OpenResult } from './pane-answers.js'
import { PaneChild } from './pane-child.js'
import type { PaneCommand } from './pane-command.js'
import type { PaneParts } from './pane-parts.js'
import { refusalOfFault } from './refusal-of-fault.js'

export interface OpenPanePorts {
  readonly admission: HostAdmission
  readonly early: EarlyCheck
  readonly record: SharedRecord
  readonly clock: Clock
  /** The TTL of leases taken here, milliseconds. */
  readonly ttlMs: number
  /** The agent is not driven here: what was to be given back could not be, and runs out. */
  readonly onFault: (agent: AgentRef, fault: unknown) => void
}

export interface PaneToOpen {
  readonly request: OpenRequest
  readonly command: PaneCommand
  readonly blockId: string
  /** Of this pane alone: where we answer, and the key for it. */
  readonly variables: Readonly<Record<string, string>>
}

export type OpenedPane =
  | { readonly kind: 'started'; readonly parts: PaneParts }
  | Exclude<OpenResult, { kind: 'opened' }>

const SHOWN_LENGTH = 200
const CANNOT_RUN = 126
const NOT_FOUND = 127

/** @throws the signal's reason; AdmissionFault if nothing can guard a lease. Nothing runs and nothing is held then. */
export async function openPane(
  pane: PaneToOpen,
  ports: OpenPanePorts,
  signal: AbortSignal
): Promise<OpenedPane> {
  const agent = agentOf(pane.request)
  const early = await ports.early.checkBeforeSpawn(agent, { signal })
  if (early.kind !== 'pass') return { ...early, ...retryAfter(early.refusal) }
  const acquired = await acquire(agent, pane.blockId, ports, signal)
  if (acquired.kind !== 'granted') return acquired
  const { lease } = acquired
  let started: OpenedPane | undefined
  try {
    signal.throwIfAborted()
    started = await start(lease, pane, ports)
    return started
  } catch (fault) {
    if (signal.aborted && fault === signal.reason) throw fault
    return { kind: 'unknown', by: 'claim', refusal: refusalOfFault(agent, fault) }
  } finally {
    if (started?.kind !== 'started') {
      await lease.release().catch((fault: unknown) => ports.onFault(agent, fault))
    }
  }
}

export function agentOf({ uid, agent }: OpenRequest): AgentRef {
  return agent === undefined ? { uid } : { uid, name: agent }
}

async function acquire(
  agent: AgentRef,
  blockId: string,
  { admission }: OpenPanePorts,
  signal: AbortSignal
): Promise<
  { readonly kind: 'granted'; readonly lease: HeldAgentLease } | Exclude<OpenedPane, { kind: 'started' }>
> {
  try {
    const result = await admission.acquire(agent, { blockId, signal })
    if (result.kind === 'granted') return result
    const retryAfterMs = result.kind === 'unknown' ? result.retryAfterMs : undefined
    return {
      kind: result.kind,
      // Placed after the early check.
      by: result.refusal.kind === 'taken-over' ? 'handover-hold' : 'claim',
      refusal: result.refusal,
      ...(retryAfterMs === undefined ? retryAfter(result.refusal) : { retryAfterMs })
    }
  } catch (fault) {
    if (fault instanceof AdmissionFault && fault.code === 'closed') return { kind: 'closing' }
    throw fault
  }
}

/** The record says that the pane was opened before its command can do anything. */
async function start(
  lease: HeldAgentLease,
  { request, command, blockId, variables }: PaneToOpen,
  { record, clock, ttlMs }: OpenPanePorts
): Promise<OpenedPane> {
  const fence = new RecordFence(lease, { record, clock, ttlMs })
  // Its arguments are not written: what stands in a record stays, and people type secrets.
  const opened = await fence.append([
    { kind: 'opened', block_id: blockId, command: plainText(command.name, SHOWN_LENGTH), cwd: command.cwd }
  ])
  if (opened.kind === 'lost') return { kind: 'refused', by: 'claim', refusal: opened.refusal }
  if (opened.kind === 'rejected') {
    lease.fence()
    const check = await lease.verify()
    if (check.kind === 'held') throw new Error('a fenced lease counts as held')
    return { kind: 'refused', by: 'claim', refusal: check.refusal }
  }
  const environment = childEnvironment(
    { ...process.env, ...request.environment },
    { ...lease.environment, ...variables }
  )
  const started = await lease.start(() => new PaneChild(command, environment), { ownGroup: true })
  if (started.kind === 'lost') return { kind: 'refused', by: 'claim', refusal: started.refusal }
  const { child } = started
  const failure = await child.failure
  if (failure === undefined) {
    const { position } = opened
    return { kind: 'started', parts: { request, command, lease, fence, child, position } }
  }
  lease.driverExited()
  await fence.append([{ kind: 'ended', block_id: blockId, code: null, signal: null }]).catch(() => {})
  return {
    kind: 'cannot-run',
    exitCode: failure.code === 'ENOENT' ? NOT_FOUND : CANNOT_RUN,
    message: `${plainText(command.name, SHOWN_LENGTH)} could not be started: ${plainText(failure.message, SHOWN_LENGTH)}`
  }
}

function retryAfter(refusal: object): { retryAfterMs?: number } {
  return 'retryAfterMs' in refusal && typeof refusal.retryAfterMs === 'number'
    ? { retryAfterMs: refusal.retryAfterMs }
    : {}
}
