/** The one error class of this package: something the caller did not cause and contention does not explain. */

/** What went wrong, for programs. `io` means the file system said no; the others name their own remedy. */
export type LeaseFaultCode =
  | 'io'
  | 'lock-timeout'
  | 'lock-unsupported'
  | 'lock-module-missing'
  | 'uid-case-conflict'
  | 'epochs-exhausted'

export interface LeaseFaultDetails {
  readonly code: LeaseFaultCode
  /** The file or folder concerned. */
  readonly path: string
  /** The system's error code (ENOSPC, EROFS, …), where there is one. */
  readonly errno?: string
  readonly cause?: unknown
}

/** Thrown when a lease could not be read or written. It never means that the lease is held, or lost. */
export class LeaseFault extends Error {
  readonly code: LeaseFaultCode
  readonly path: string
  readonly errno: string | undefined

  constructor(message: string, details: LeaseFaultDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'LeaseFault'
    this.code = details.code
    this.path = details.path
    this.errno = details.errno
  }
}

/** The system error code of anything thrown by node:fs; empty if it is not one. */
export function errnoOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return ''
}

/** Wraps a file system error with what was being done and where. A LeaseFault passes through unchanged. */
export function ioFault(action: string, path: string, error: unknown): LeaseFault {
  if (error instanceof LeaseFault) return error
  const errno = errnoOf(error)
  const reason = errno || (error instanceof Error ? error.message : String(error))
  return new LeaseFault(`cannot ${action} ${path}: ${reason}`, { code: 'io', path, errno, cause: error })
}
