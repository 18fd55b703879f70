/** The variables a child needs to know whose lease it runs under, and by which it is found again (R12). */
import type { AgentRef } from '@agentmux/lease-model'
import { CLAIM_VARIABLE } from './claim-mark.js'

export interface ClaimMark {
  readonly agent: AgentRef
  readonly blockId: string
  readonly claimId: string
  readonly epoch: number
}

export function childEnvironment(mark: ClaimMark): Record<string, string> {
  return {
    AGENTMUX_AGENT_ID: mark.agent.name ?? '',
    AGENTMUX_AGENT_UID: mark.agent.uid,
    AGENTMUX_BLOCKID: mark.blockId,
    [CLAIM_VARIABLE]: mark.claimId,
    AGENTMUX_LEASE_EPOCH: String(mark.epoch)
  }
}
