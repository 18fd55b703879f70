/** When it is worth asking again, for programs. */
export function retryFields(retryAfterMs: number | undefined): { retry_after_ms?: number } {
  return retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }
}
