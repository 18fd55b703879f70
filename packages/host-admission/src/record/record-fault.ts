/** The error of the shared record: a disk or a lock said no. It never means that the writer was fenced. */
import { LeaseFault, type LeaseFaultCode } from '@agentmux/lease-store'

/** `epochs-exhausted`: damage says that no epoch is left. The others are those of a lease. */
export type RecordFaultCode = LeaseFaultCode | 'epochs-exhausted'

export interface RecordFaultDetails {
  readonly code: RecordFaultCode
  /** The file or folder concerned. */
  readonly path: string
  /** The system's error code (ENOSPC, EROFS, …), where there is one. */
  readonly errno?: string | undefined
  /** How many lines of the batch stand in the record all the same. */
  readonly appendedLines?: number
  readonly cause?: unknown
}

/** Thrown when the record could not be read or written. What was acknowledged before is still there. */
export class RecordFault extends Error {
  readonly code: RecordFaultCode
  readonly path: string
  readonly errno: string | undefined
  /** Of the batch that failed, the lines that were written whole before it did: do not append those again. */
  readonly appendedLines: number

  constructor(message: string, details: RecordFaultDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'RecordFault'
    this.code = details.code
    this.path = details.path
    this.errno = details.errno
    this.appendedLines = details.appendedLines ?? 0
  }
}

/** The system error code of anything thrown by node:fs; empty if it is not one. */
export function errnoOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return ''
}

/** Wraps what went wrong with what was being done and where. A RecordFault passes through unchanged. */
export function recordFault(action: string, path: string, error: unknown): RecordFault {
  if (error instanceof RecordFault) return error
  if (error instanceof LeaseFault) {
    const { code, errno } = error
    return new RecordFault(`cannot ${action} the record: ${error.message}`, {
      code,
      path: error.path,
      errno,
      cause: error
    })
  }
  const errno = errnoOf(error)
  const reason = errno || (error instanceof Error ? error.message : String(error))
  return new RecordFault(`cannot ${action} ${path}: ${reason}`, {
    code: 'io',
    path,
    errno: errno || undefined,
    cause: error
  })
}
