/** What one client can cost the daemon: every size, count and time is bounded (R3). */

export interface HttpLimits {
  /** A body, bytes. */
  readonly bodyBytes: number
  /** The body of a turn, bytes. */
  readonly turnBytes: number
  /** The line and the headers of a request, bytes. */
  readonly headerBytes: number
  readonly connections: number
  /** From the first byte of a request to its last, milliseconds. */
  readonly requestTimeoutMs: number
  /** A connection without a request is kept this long, milliseconds. */
  readonly keepAliveTimeoutMs: number
  /** An answer that its reader does not take is given up after this long, milliseconds. */
  readonly stallTimeoutMs: number
  /** Event streams and records that are being followed, each. */
  readonly streams: number
  /** What may wait for one reader of the event stream, bytes. */
  readonly streamBytes: number
  /** Between two signs of life on a quiet event stream, milliseconds. */
  readonly heartbeatMs: number
  /** At the end, what is under way gets this long, milliseconds: a release takes up to 10 s. */
  readonly closeTimeoutMs: number
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  bodyBytes: 1024 * 1024,
  turnBytes: 256 * 1024,
  headerBytes: 16 * 1024,
  connections: 1_024,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 5_000,
  stallTimeoutMs: 30_000,
  streams: 64,
  streamBytes: 1024 * 1024,
  heartbeatMs: 15_000,
  closeTimeoutMs: 12_000
})

/** What all strangers on the network together can cost, at each of our addresses. */
export const LAN_HTTP_LIMITS: HttpLimits = Object.freeze({
  ...HTTP_LIMITS,
  // A thousand UIDs.
  bodyBytes: 1024 * 1024,
  headerBytes: 8 * 1024,
  connections: 256,
  requestTimeoutMs: 5_000,
  stallTimeoutMs: 5_000
})

/** Of these, what one computer has at most. */
export const LAN_CONNECTIONS_OF_ONE = 32
