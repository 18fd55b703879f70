/** What the lease operations answer. None of them is a fault: not knowing is an answer too (R8). */
import type { Holder } from '@agentmux/lease-model'
import type { Unknown } from './unknown-why.js'

export interface Held {
  readonly kind: 'held'
  /** The fencing epoch of the lease; 0 if the relay did not say. */
  readonly epoch: number
}

export interface ElsewhereAnswer {
  readonly kind: 'held-elsewhere'
  readonly holder: Holder
}

export type EnsureAnswer =
  | Held
  | ElsewhereAnswer
  /** Nobody wants it any more: nothing was claimed. */
  | { readonly kind: 'unsubscribed' }
  | Unknown

export type TakeOverAnswer = Held | ElsewhereAnswer | Unknown

export type ReleaseAnswer =
  | { readonly kind: 'released' }
  /** We had nothing to let go. */
  | { readonly kind: 'not-held' }
  /** Somebody wants it again: it is kept. */
  | { readonly kind: 'subscribed' }
  /** Forgotten here; at the relay it lapses after one TTL, or is let go by the next try. */
  | Unknown

/** What came of one renewal of everything held. An agent stands in one list, or in none if it changed meanwhile. */
export interface BatchAnswer {
  readonly held: readonly string[]
  readonly elsewhere: readonly { readonly agent: string; readonly holder: Holder }[]
  /** Another operation was under way: left out. */
  readonly busy: readonly string[]
  /** Nothing is known of these: what was known before stays. */
  readonly unanswered: readonly { readonly agent: string; readonly why: Unknown['why'] }[]
}
