/**
 * The store could not be asked, or did not say in time whether a change was made. Nothing wrong was answered: whoever asked
 * may repeat the call.
 */

export type UnavailableBecause = 'io' | 'full' | 'timeout' | 'unreachable' | 'contended' | 'closed'

export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
  readonly code: UnavailableBecause

  constructor(code: UnavailableBecause, cause?: unknown) {
    super(`the store is unavailable (${code})`, { cause })
    this.code = code
  }
}
