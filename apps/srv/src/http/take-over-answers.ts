/** The requester's half of a take-over as its route asks for it (PROTOCOL 6). Only a request with the full key gets this far (R5). */

export type TakeOverPaneResult =
  /** `fromChannel`: who let go; absent where nobody held the agent. */
  | { readonly kind: 'taken'; readonly fromChannel?: string }
  | { readonly kind: 'no-such-pane' }
  | { readonly kind: 'no-agent' }
  /** Somebody else keeps it. */
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'unknown'; readonly message: string; readonly retryAfterMs?: number }
  | { readonly kind: 'ran-out'; readonly message: string }

export interface TakeOverPane {
  /** @throws the signal's reason, and leaves nothing behind then. */
  takeOver(blockId: string, options: { readonly signal: AbortSignal }): Promise<TakeOverPaneResult>
}
