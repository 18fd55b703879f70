/** `run --take-over`: frees the agent where it runs and keeps it for this very process until it has claimed it. */
import type { HostAdmission } from '@agentmux/host-admission'
import type { AgentRef, Clock } from '@agentmux/lease-model'
import { adviceFor } from '../advice.js'
import type { CommonFlags } from '../compose.js'
import { createProgress } from '../progress.js'
import { confirmAndTakeOver } from './confirm-and-take-over.js'
import { isTakenOver, reportNotTakenOver } from './report-take-over.js'

export interface TakeOverFirstParts {
  readonly flags: CommonFlags & { readonly conflictExitCode: number }
  readonly agent: AgentRef
  readonly yes: boolean
  readonly admission: HostAdmission
  readonly sharedRoot: string
  readonly clock: Clock
  readonly signal: AbortSignal
}

export type TakeOverFirst =
  /** `settle`: to be called once the agent is claimed, or will not be: from then on it is kept for nobody. */
  | { readonly kind: 'go-on'; readonly settle: () => void }
  | { readonly kind: 'end'; readonly exitCode: number }

/** @throws the signal's reason when aborted, and then nothing is left behind. */
export async function takeOverFirst(parts: TakeOverFirstParts): Promise<TakeOverFirst> {
  const { flags, agent, admission } = parts
  const { store, holds } = admission
  const result = await confirmAndTakeOver({
    ...parts,
    store,
    holds,
    reserveFor: 'this-process',
    advice: adviceFor(flags),
    progress: createProgress()
  })
  if (!isTakenOver(result)) return { kind: 'end', exitCode: reportNotTakenOver(flags, result) }
  return { kind: 'go-on', settle: () => holds.withdrawReservation(agent.uid) }
}
