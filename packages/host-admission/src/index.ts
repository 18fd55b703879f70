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
// The pieces of the daemon: each works by itself, none is wired into HostAdmission yet.
export { type CheckedBy, EarlyCheck } from './early/early-check.js'
export type { HeldAgentLease } from './held-agent-lease.js'
export type { GivenUp, HeldCheck, LostCheck, StartedChild, StartResult } from './held-answers.js'
export { HeldByName } from './held-by-name.js'
export { HostAdmission } from './host-admission.js'
export { InstanceClient } from './instance/instance-client.js'
export { InstanceEndpoint } from './instance/instance-endpoint.js'
export type { ReleaseRequest } from './instance/release-answer.js'
export { localHolding, localHoldings } from './local-holding.js'
export type { ProcessEntry } from './process-table.js'
export { OtherInstances } from './reactive/other-instances.js'
export { type AgentRegistration, type OwnServer, ReactiveRegistry } from './reactive/reactive-registry.js'
export { stem } from './reactive/stem.js'
export { fencedZone } from './record/fenced-zone.js'
export { outputEvents } from './record/output-events.js'
export { RecordFault } from './record/record-fault.js'
export { RecordFence } from './record/record-fence.js'
export type { RecordEvent, RecordItem, RecordLine } from './record/record-line.js'
export { type ReadResult, SharedRecord } from './record/shared-record.js'
export { askToLetGo } from './takeover/ask-to-let-go.js'
export { HandoverHolds } from './takeover/handover-holds.js'
export { locateHolder } from './takeover/locate-holder.js'
export { waitUntilFree } from './takeover/wait-until-free.js'
