/** What comes of POST /api/v1/agent/takeover: the agent of a pane moved to that pane. */
import type { OpenResult, PaneView } from '../panes/pane-answers.js'

export type TakeOverPaneResult =
  /** `released: false`: nobody held the agent. `pane`: driving it again, under the next epoch. */
  | { readonly kind: 'done'; readonly released: false; readonly pane: PaneView }
  | { readonly kind: 'done'; readonly released: true; readonly fromChannel: string; readonly pane: PaneView }
  | { readonly kind: 'no-such-pane' }
  /** It runs on another computer, its instance does not run, said no, is too old or did not answer. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly retryAfterMs?: number }
  /** It did not let go in time. */
  | { readonly kind: 'ran-out'; readonly message: string }
  /** The agent came free, and could not be started again here. It is free. */
  | { readonly kind: 'not-opened'; readonly result: Exclude<OpenResult, { kind: 'opened' }> }

/** A person at a console asked for it: only the full key leads here (R5). @throws the signal's reason. */
export type TakeOverPane = (blockId: string, signal?: AbortSignal) => Promise<TakeOverPaneResult>
