/** One live instance per agent on a host. See README.md for what is guaranteed and what is not. */

export { AdmissionFault, type AdmissionFaultCode } from './admission-fault.js'
export type { AcquireOptions, AcquireResult, HostAdmissionOptions } from './admission-options.js'
export { type ClaimMark, childEnvironment } from './child-environment.js'
export { CLAIM_VARIABLE } from './claim-mark.js'
export {
  type EndedProcesses,
  type EndOptions,
  endClaimProcesses,
  findClaimProcesses
} from './claim-processes.js'
export { type ClaimantInfo, claimantInfo } from './claimant-info.js'
export {
  type CheckedBy,
  type Doubt,
  type EarlyAnswer,
  EarlyCheck,
  type EarlyCheckOptions
} from './early/early-check.js'
export type { ElsewhereTier, HeldElsewhere } from './early/held-elsewhere.js'
export type { HeldAgentLease } from './held-agent-lease.js'
export type { GivenUp, HeldCheck, LostCheck, StartedChild, StartResult } from './held-answers.js'
export { type Fenceable, HeldByName } from './held-by-name.js'
export { HostAdmission } from './host-admission.js'
export type { Holding } from './instance/holding.js'
export { InstanceClient, type InstanceClientOptions } from './instance/instance-client.js'
export { InstanceEndpoint } from './instance/instance-endpoint.js'
export { loopbackOrigin } from './instance/loopback-url.js'
export type { ReleaseAnswer, ReleaseRequest } from './instance/release-answer.js'
export { type KeptAgent, keptAgent, keptAgents } from './kept-agents.js'
export { LinkedAbort } from './linked-abort.js'
export { type HeldLease, localHolding, localHoldings } from './local-holding.js'
export { type FileText, readPrivateFile, removeQuietly, replacePrivateFile } from './private-file.js'
export type { ProcessEntry } from './process-table.js'
export { OtherInstances, type ProbeResult } from './reactive/other-instances.js'
export { type AgentRegistration, type OwnServer, ReactiveRegistry } from './reactive/reactive-registry.js'
export { stem } from './reactive/stem.js'
export type { AppendRequest, AppendResult } from './record/append.js'
export { fencedZone, type ZoneResult } from './record/fenced-zone.js'
export { outputEvents } from './record/output-events.js'
export { RecordFault, type RecordFaultCode } from './record/record-fault.js'
export { type FencedAppend, RecordFence } from './record/record-fence.js'
export type { RecordEvent, RecordItem, RecordLine } from './record/record-line.js'
export { type ReadResult, SharedRecord, type SharedRecordOptions } from './record/shared-record.js'
export { comparableUid } from './same-uid.js'
export { startWatchdogThread, type WatchdogThread } from './start-watchdog-thread.js'
export { askToLetGo, type LetGo } from './takeover/ask-to-let-go.js'
export { HandoverHolds, type PlacedHold } from './takeover/handover-holds.js'
export type { Successor } from './takeover/hold-file.js'
export { HOLD_MS } from './takeover/hold-refuses.js'
export { type Located, locateHolder } from './takeover/locate-holder.js'
export { TAKE_OVER_TIMEOUT_MS, takeOver } from './takeover/take-over.js'
export type {
  TakeOverPorts,
  TakeOverProgress,
  TakeOverRequest,
  TakeOverResult
} from './takeover/take-over-answers.js'
export { type WaitResult, waitUntilFree } from './takeover/wait-until-free.js'
