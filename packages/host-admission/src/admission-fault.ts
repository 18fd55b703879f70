/** What keeps an admission from giving any answer: not the lease, and not its files. */

export type AdmissionFaultCode =
  /** The watchdog thread did not start, or has died: without it nothing may be driven (R13). */
  | 'watchdog-failed'
  /** The admission was closed, before the call or during it. */
  | 'closed'
  /** Another instance has the registry's file of one of our agents: nobody finds us by that name. Never thrown, only told. */
  | 'entry-taken'

/** Thrown when nothing could be granted or refused. Nothing is held then. */
export class AdmissionFault extends Error {
  readonly code: AdmissionFaultCode

  constructor(code: AdmissionFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AdmissionFault'
    this.code = code
  }
}
