/** What a refused or fenced person reads, and the same as data for programs. No I/O, no state. */
export {
  heldRefusal,
  type LockStuckOptions,
  leaseIoRefusal,
  lockStuckRefusal,
  lostRefusal,
  processesRemainRefusal,
  type RetryOptions,
  type TakenOverRefusalOptions,
  takenOverRefusal,
  unknownRefusal,
  waitRanOutRefusal
} from './build-refusal.js'
export { deniedMessage, lanDeniedMessage, wanDeniedMessage } from './denied-message.js'
export { doubtfulFolderWarning } from './doubtful-folder-message.js'
export { durationText, heldForText, remainingText } from './duration-text.js'
export { EXIT_CODES, type ExitCode } from './exit-codes.js'
export { handingOverMessage } from './handing-over-message.js'
export { holderText } from './holder-text.js'
export {
  LAN_SILENCES,
  type LanAnswers,
  type LanSilence,
  lanAnswersMessage
} from './lan-answers-message.js'
export { lanSecretFaultMessage, lanTrustWarning, lanUnsignedMessage } from './lan-trust-message.js'
export { type LeaseIoFault, leaseIoMessage } from './lease-io-message.js'
export { type LockingProcess, lockStuckMessage } from './lock-stuck-message.js'
export { LOSS_REASONS, type LossReason } from './loss-reason.js'
export { type LostOptions, lostMessage } from './lost-message.js'
export { isAdmissionRefusal, REFUSAL_MARKERS, type RefusalMarker } from './markers.js'
export { type AdviceOptions, DEFAULT_NEXT_ACTIONS, type GivenFlags, type NextAction } from './next-action.js'
export { parseRefusal } from './parse-refusal.js'
export { plainText } from './plain-text.js'
export { processesRemainMessage } from './processes-remain-message.js'
export { type WaitingOptions, waitingMessage, watchingMessage } from './progress-message.js'
export {
  type HeldRefusal,
  type IoRefusal,
  type LostRefusal,
  MAX_PROCESSES,
  type ProcessesRemainRefusal,
  type Refusal,
  type RefusalKind,
  type TakenOverRefusal,
  type UnknownRefusal,
  type WaitRanOutRefusal
} from './refusal.js'
export { refusalToJson } from './refusal-to-json.js'
export { REMAINS_BECAUSE, type RemainingProcess, type RemainsBecause } from './remaining-process.js'
export { staysHeldMessage } from './stays-held-message.js'
export {
  TAKE_OVER_FAILURES,
  type TakeOverFailure,
  type TakeOverOptions,
  takeOverMessage
} from './take-over-message.js'
export {
  askingToLetGoMessage,
  type FreedHow,
  type ReservedOptions,
  reservedMessage,
  takeOverQuestion
} from './take-over-progress.js'
export { type TakenOverOptions, takenOverMessage } from './taken-over-message.js'
export {
  UNKNOWN_REASONS,
  type UnknownOptions,
  type UnknownReason,
  unknownMessage
} from './unknown-message.js'
export { type WaitRanOutOptions, waitRanOutMessage } from './wait-ran-out-message.js'
