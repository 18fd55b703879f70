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
export type { HeldAgentLease } from './held-agent-lease.js'
export type { GivenUp, HeldCheck, LostCheck, StartedChild, StartResult } from './held-answers.js'
export { HostAdmission } from './host-admission.js'
export type { ProcessEntry } from './process-table.js'
