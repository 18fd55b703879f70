/** One live instance per agent on a host. See README.md for what is guaranteed and what is not. */

export { type ClaimMark, childEnvironment } from './child-environment.js'
export {
  type EndedProcesses,
  type EndOptions,
  endClaimProcesses,
  findClaimProcesses
} from './claim-processes.js'
export { type ClaimantInfo, claimantInfo } from './claimant-info.js'
export type {
  GivenUp,
  HeldAgentLease,
  HeldCheck,
  StartedChild,
  StartResult
} from './held-agent-lease.js'
export {
  type AcquireOptions,
  type AcquireResult,
  HostAdmission,
  type HostAdmissionOptions
} from './host-admission.js'
export { CLAIM_VARIABLE, type ProcessEntry } from './process-table.js'
