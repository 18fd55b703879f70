/**
 * What a relay keeps, and what every way of keeping it promises. Two stores implement it; one suite
 * (test/store/store-contract.ts) is run by both.
 *
 * Promised: what was answered is durable; of two calls one comes first; a lease that is not renewed for one TTL, by the
 * store's own clock, is free; wall-clock steps change nothing of that; a time in which no relay served does not count,
 * and for one TTL after it only the last holder may claim; an epoch is given once; a message is won by one ack.
 * Where that cannot be said, a call throws StoreUnavailable: it may or may not have happened, and can be repeated.
 */
import type { AgentKey } from '../model/agent-key.js'
import type { AgentState } from '../model/agent-record.js'
import type { Claimant, Holder, Identity } from '../model/holder.js'
import type { Message, NewMessage } from '../model/message.js'
import type { Token } from '../model/token.js'

export interface RelayStore {
  readonly leases: LeaseKeeper
  readonly messages: MessageKeeper
  readonly tokens: TokenKeeper
  /** Resolves if the store answers, reads and would write. @throws StoreUnavailable */
  check(): Promise<void>
  /** Ends what is under way and lets go of everything. Again, it does nothing. */
  close(): Promise<void>
}

/** `held`: by whoever asked. `refused`: by `heldBy`, or by nobody. `full`: the account has as many agents as it may. */
export type LeaseAnswer =
  | { readonly kind: 'held'; readonly epoch: number }
  | { readonly kind: 'refused'; readonly heldBy: Holder | undefined }
  | { readonly kind: 'full' }

export interface LeaseKeeper {
  /** Grants a free agent under the next epoch; to its holder it is a renewal. */
  claim(key: AgentKey, claimant: Claimant): Promise<LeaseAnswer>
  /** Each agent once, in the order asked for. Renews for the holder alone; `refused` by nobody: claim again. */
  renew(account: string, agents: readonly string[], claimant: Claimant): Promise<readonly LeaseAnswer[]>
  /** Resolves with whether this ended the lease. From anyone but the holder it does nothing. */
  release(key: AgentKey, claimant: Identity): Promise<boolean>
  /** Moves a live lease to the claimant under the next epoch. The same `requestKey` never moves it twice. */
  take(key: AgentKey, claimant: Claimant, requestKey: string | undefined): Promise<LeaseAnswer>
  /** Who has it now; changes nothing. */
  look(key: AgentKey): Promise<Holder | undefined>
  /** All agents that were ever claimed, in pages; for people. */
  list(): AsyncIterable<ListedAgent>
  /** How many are held now, as far as this relay knows. */
  heldCount(): Promise<number>
}

export interface ListedAgent extends AgentKey {
  readonly state: AgentState
  readonly holder: Holder
}

/** Everything that changes who drives an agent, told after it is durable. */
export interface HolderChange extends AgentKey {
  readonly because: 'claimed' | 'taken' | 'released' | 'lapsed'
  /** Who had it last, and how that ended. */
  readonly from: (Holder & { readonly state: AgentState }) | undefined
  readonly to: Holder | undefined
}

/** `won`: these, by this call or by the same one before it. `not-holder`: nothing was won, and nothing consumed. */
export type AckAnswer =
  | { readonly kind: 'won'; readonly ids: readonly string[] }
  | { readonly kind: 'not-holder'; readonly heldBy: Holder | undefined }

export type PendingAnswer =
  | { readonly kind: 'pending'; readonly messages: readonly Message[] }
  | { readonly kind: 'not-holder'; readonly heldBy: Holder | undefined }

export type InjectAnswer = { readonly kind: 'queued'; readonly id: string } | { readonly kind: 'full' }

export interface MessageKeeper {
  /** Queues it. With a `requestKey` that was seen within the last hour: the message of then, and no other. */
  inject(key: AgentKey, message: NewMessage, requestKey: string | undefined): Promise<InjectAnswer>
  /** The first of the queue, for the holder; changes nothing. */
  pending(key: AgentKey, claimant: Identity): Promise<PendingAnswer>
  /** Takes messages out of the queue for the holder to deliver. What it wins, nobody else ever does. */
  ack(key: AgentKey, ids: readonly string[], by: AckedBy): Promise<AckAnswer>
  /**
   * Puts a message that could not be delivered back in its place, for whoever won it. False if there is none that this
   * claimant won or that is pending. The same `requestKey` puts it back once.
   */
  giveBack(key: AgentKey, id: string, by: AckedBy): Promise<boolean>
  /** Tells of every queue that got something, whichever relay put it there. Returns what ends that. */
  onArrival(listener: (key: AgentKey) => void): () => void
}

export interface AckedBy extends Identity {
  readonly requestKey: string | undefined
}

export interface TokenKeeper {
  add(token: Token, hash: string): Promise<void>
  /** Undefined if there is none, it was revoked or has expired. A revocation counts within 5 s everywhere. */
  find(hash: string): Promise<Token | undefined>
  list(): Promise<readonly Token[]>
  /** False if there is none with that id. */
  revoke(id: string): Promise<boolean>
}
