/** What panes tell whoever keeps the log and the counters. Names both parties, holds no secret (R16). */
import type { CheckedBy } from '@agentmux/host-admission'
import type { AgentRef, Holder } from '@agentmux/lease-model'
import type { Refusal } from '@agentmux/refusals'

export type PaneNotice =
  | {
      readonly kind: 'granted'
      readonly agent: AgentRef
      readonly blockId: string
      readonly epoch: number
      /** In whose place: its holder was dead, or the lease had run out. */
      readonly replaced?: { readonly why: 'dead' | 'expired'; readonly holder: Holder }
    }
  | {
      /** `unknown`: it could not be found out whether the agent is free. */
      readonly kind: 'denied' | 'unknown'
      readonly agent: AgentRef
      readonly by: CheckedBy | 'claim'
      readonly refusal: Refusal
    }
  /** A running pane lost its agent. */
  | {
      readonly kind: 'fenced'
      readonly agent: AgentRef
      readonly blockId: string
      readonly epoch: number
      readonly refusal: Refusal
    }
  /** A running pane gave its agent to another instance that asked for it. */
  | {
      readonly kind: 'handed-over'
      readonly agent: AgentRef
      readonly blockId: string
      readonly epoch: number
      readonly toChannel: string
      readonly toVersion: string
    }
  /** A person took the agent for a pane of ours. `from`: the channel that let it go; absent if nobody held it. */
  | {
      readonly kind: 'taken-over'
      readonly agent: AgentRef
      readonly blockId: string
      readonly epoch: number
      readonly fromChannel?: string
    }
  /** Something went wrong that changes nothing by itself. */
  | { readonly kind: 'fault'; readonly agent: AgentRef; readonly blockId?: string; readonly fault: unknown }
