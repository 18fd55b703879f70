/** Leases on files under flock. See README.md for what is guaranteed and what is not. */

export { syncFolder } from './durable-file.js'
export { LARGEST_EPOCH } from './epoch-file.js'
export { FileLock, type LockOptions } from './file-lock.js'
export { doubtsAbout } from './file-system.js'
export { createFolder, type FolderOptions } from './folder-creation.js'
export { createInstanceIdentity, readHostIdentity } from './host-facts.js'
export type {
  ClaimRequest,
  ClaimResult,
  Driver,
  EndingResult,
  Lease,
  ListedLease,
  LookResult,
  Loss,
  PreviousClaim,
  ReleaseResult,
  RemainingProcess,
  RenewResult,
  VerifyResult,
  WhileHeldResult
} from './lease.js'
export { LeaseFault, type LeaseFaultCode, type LeaseFaultDetails } from './lease-fault.js'
export { leaseKey } from './lease-key.js'
export { LeaseStore } from './lease-store.js'
export type { LeaseStoreOptions } from './lease-store-options.js'
export { type TryFlock, tryFlock } from './native-flock.js'
export { type ProcessState, processState } from './process-state.js'
export type { ReleaseWatchOptions } from './release-watch.js'
