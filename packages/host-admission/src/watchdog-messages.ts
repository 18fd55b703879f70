/** What the watchdog thread and the main thread tell each other. */
import type { DeadlineTimings } from './deadline.js'

/** Given to the thread when it starts. */
export type WatchdogSettings = DeadlineTimings

/** A child of ours that drives the agent. */
export interface Driver {
  readonly pid: number
  /** With the pid, this names one process for ever; 0 where unknown. */
  readonly startTicks: number
  /** It leads a process group of its own. */
  readonly ownGroup: boolean
}

export type ToWatchdog =
  | {
      readonly kind: 'arm'
      readonly id: number
      readonly claimId: string
      /** One cell: boot time of the start of the last good renewal, or FENCED. Shared memory. */
      readonly cell: BigInt64Array<SharedArrayBuffer>
    }
  /** The child that drives the agent; undefined once it has exited. */
  | { readonly kind: 'driver'; readonly id: number; readonly driver: Driver | undefined }
  | { readonly kind: 'disarm'; readonly id: number }

export type FromWatchdog =
  | { readonly kind: 'ready' }
  /** The deadline passed; the claim's processes have been signalled. */
  | { readonly kind: 'fenced'; readonly id: number }
  /** We were suspended: renew now, before the short time it still gives is over. */
  | { readonly kind: 'look' }
  /** The wall clock was stepped: renew now, for the sake of older builds that judge by it. */
  | { readonly kind: 'wall-step' }

/** Stands in the cell once the watchdog has fenced the lease: no later renewal counts. */
export const FENCED = -1n
