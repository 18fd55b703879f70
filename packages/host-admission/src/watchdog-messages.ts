/** What the watchdog thread and the main thread tell each other. */

/** Given to the thread when it starts. */
export interface WatchdogSettings {
  readonly terminateAfterMs: number
  readonly killAfterMs: number
  /** How often it looks, at most. */
  readonly tickMs: number
}

export type ToWatchdog =
  | {
      readonly kind: 'arm'
      readonly id: number
      readonly claimId: string
      /** One cell: boot time of the start of the last good renewal, or FENCED. Shared memory. */
      readonly cell: BigInt64Array<SharedArrayBuffer>
    }
  /** The child that drives the agent. `ownGroup`: it leads a process group of its own. pid 0: it has exited. */
  | { readonly kind: 'driver'; readonly id: number; readonly pid: number; readonly ownGroup: boolean }
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
