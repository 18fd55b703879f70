/** An answer that is not what was asked for: its status, and for programs a few words or the fields they go by. */

export interface HttpErrorOptions {
  readonly fields?: Readonly<Record<string, unknown>>
  /** The client may come again after this. */
  readonly retryAfterMs?: number
}

export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly statusCode: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly retryAfterMs: number | undefined

  /** `error` must not repeat what the request held: it may have been a secret. */
  constructor(statusCode: number, error: string, { fields = {}, retryAfterMs }: HttpErrorOptions = {}) {
    super(error)
    this.statusCode = statusCode
    this.fields = fields
    this.retryAfterMs = retryAfterMs
  }
}
