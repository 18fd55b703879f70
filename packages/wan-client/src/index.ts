/** The relay tier: one live instance per agent across the internet, and the messages that wait there. */
export { agentKey, MAX_AGENT_KEY_LENGTH } from './agent-key.js'
export { holderFragment } from './describe-holder.js'
export type { HolderAnswer } from './holder-answer.js'
export type {
  BatchAnswer,
  ElsewhereAnswer,
  EnsureAnswer,
  Held,
  ReleaseAnswer,
  TakeOverAnswer
} from './lease-answers.js'
export type { OperationOptions } from './lease-context.js'
export type {
  AckAnswer,
  GiveBackAnswer,
  InjectAnswer,
  NotHolder,
  PendingAnswer,
  RelayMessage
} from './message-answers.js'
export { PendingMessages, type PendingMessagesPorts } from './pending-messages.js'
export type { RelayTrouble, TokenSource } from './relay-calls.js'
export { instanceIdOf, type RelayIdentity } from './relay-identity.js'
export { RelayLeases, type RequestMark } from './relay-leases.js'
export { type Injection, MAX_MESSAGE_BYTES, RelayMessages, type RequestKeyOptions } from './relay-messages.js'
export { RelayTick, type RelayTickPorts } from './relay-tick.js'
export { RelayTier, type TierAnswer } from './relay-tier.js'
export {
  ELSEWHERE_GOOD_FOR_MS,
  HOLDER_GOOD_FOR_MS,
  MAX_BATCH,
  MISSING_ROUTE_MS,
  PULL_EVERY_MS,
  RELAY_TTL_MS,
  RENEW_EVERY_MS
} from './relay-timings.js'
export { parseRelayUrl, type RelayUrl, type RelayUrlOptions } from './relay-url.js'
export type { Route } from './route.js'
export type { RelaySnapshot } from './snapshot.js'
export type { Unknown, UnknownWhy } from './unknown-why.js'
export { WanClient, type WanClientOptions, type WanClientPorts } from './wan-client.js'
