/** What panes are asked and what they answer. Expected outcomes are data on `kind`; they cross HTTP as they are. */
import type { CheckedBy } from '@agentmux/host-admission'
import type { Refusal, RemainingProcess } from '@agentmux/refusals'

/**
 * `closing`: it takes no more turns and its processes are being ended. `ended`: nothing of it runs and the agent is given
 * up. `superseded`: another drives the agent now; the pane can only be watched.
 */
export type PaneState = 'running' | 'closing' | 'ended' | 'superseded'

/** `kept`: it could not be given up and stays held until its lease runs out. */
export type PaneOutcome = 'given-up' | 'handed-over' | 'kept' | 'lost'

export interface PaneExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A pane as it is at one moment. Holds no secret: neither the environment nor the key of the pane. */
export interface PaneView {
  readonly blockId: string
  readonly uid: string
  readonly agent?: string
  readonly state: PaneState
  readonly command: readonly string[]
  readonly cwd: string
  readonly pid: number
  readonly epoch: number
  /** Unix milliseconds. */
  readonly openedAtMs: number
  readonly endedAtMs?: number
  readonly exit?: PaneExit
  /** Of a superseded pane: by whom, and what can be done now. */
  readonly refusal?: Refusal
}

export interface OpenRequest {
  readonly uid: string
  readonly agent?: string
  /** The program and its arguments; looked up as a shell in `cwd` would. */
  readonly command: readonly string[]
  /** The folder of this process unless given. */
  readonly cwd?: string
  /** Added to our own environment. What belongs to AgentMux in it is dropped. */
  readonly environment?: Readonly<Record<string, string>>
}

export type OpenResult =
  | { readonly kind: 'opened'; readonly pane: PaneView }
  /** Nothing was started, and nothing shared was written. */
  | {
      readonly kind: 'refused' | 'unknown'
      readonly by: CheckedBy | 'claim'
      readonly refusal: Refusal
      readonly retryAfterMs?: number
    }
  /** The agent is as free as before. */
  | { readonly kind: 'cannot-run'; readonly exitCode: 126 | 127; readonly message: string }
  | { readonly kind: 'too-many'; readonly limit: number }
  /** The daemon is going down. */
  | { readonly kind: 'closing' }

export type ReopenResult = OpenResult | { readonly kind: 'no-such-pane' }

export type SendResult =
  /** It stands in the record at `position` and was written to the input of the agent, which may not have read it yet. */
  | { readonly kind: 'sent'; readonly position: number; readonly epoch: number }
  | { readonly kind: 'no-such-pane' }
  /** It takes no more turns: it has ended, is being closed, or has closed its input. */
  | { readonly kind: 'ended'; readonly pane: PaneView }
  /** `unknown`: the lease file or the record cannot be used now. Nothing was written to the agent. */
  | { readonly kind: 'lost' | 'unknown'; readonly refusal: Refusal }
  /** It has not read what was sent before. */
  | { readonly kind: 'busy' }

export type CloseResult =
  | { readonly kind: 'closed'; readonly pane: PaneView }
  /** These would not end, so the lease is kept until it runs out. */
  | { readonly kind: 'remaining'; readonly pane: PaneView; readonly processes: readonly RemainingProcess[] }
  | { readonly kind: 'no-such-pane' }

/** `removed`: an ended pane that is not kept for reading any longer. */
export interface PaneEvent {
  readonly kind: 'opened' | 'changed' | 'removed'
  readonly pane: PaneView
}

/** One name under which a live pane is known to other instances: an item of GET /agentmux/reactive/agents. */
export interface PaneRegistration {
  readonly agentName: string
  readonly blockId: string
  readonly uid: string
  readonly tabId?: string
  /** Unix milliseconds. */
  readonly registeredAtMs: number
  /** Unix milliseconds: the time of asking, because the pane lives. */
  readonly lastSeenMs: number
  /** Never 0. */
  readonly nonce: number
}

export interface RegisterRequest {
  readonly agent: string
  readonly blockId: string
  readonly tabId?: string
}

export type RegisterResult =
  | { readonly kind: 'registered' }
  /** The agent is driven elsewhere now, or this cannot be found out. Nothing was registered. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** No pane of that id runs here. Nothing was registered. */
  | { readonly kind: 'no-such-pane' }
