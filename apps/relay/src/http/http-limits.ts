/** What one client can cost the relay: every size, count and time is bounded. */

export interface HttpLimits {
  /** A body, bytes. */
  readonly bodyBytes: number
  /** The body of a batch, bytes. */
  readonly batchBytes: number
  readonly agentsPerBatch: number
  /** Ids in one ack. */
  readonly idsPerAck: number
  /** A message, bytes of UTF-8. */
  readonly messageBytes: number
  /** The line and the headers of a request, bytes. */
  readonly headerBytes: number
  readonly connections: number
  /** Requests per second of one token, on average; twice as many at once. */
  readonly requestsPerSecond: number
  /** From the first byte of a request to its last, milliseconds. */
  readonly requestTimeoutMs: number
  /** A connection without a request is kept this long, milliseconds: longer than clients that renew every 20 s. */
  readonly keepAliveTimeoutMs: number
  /** An answer that its reader does not take is given up after this long, milliseconds. */
  readonly stallTimeoutMs: number
  readonly streams: number
  readonly streamsPerToken: number
  /** What may wait for one reader of a wake stream, bytes. */
  readonly streamBytes: number
  /** Between two signs of life on a quiet wake stream, milliseconds. */
  readonly heartbeatMs: number
  /** At the end, what is under way gets this long, milliseconds. */
  readonly closeTimeoutMs: number
}

export const HTTP_LIMITS: HttpLimits = Object.freeze({
  bodyBytes: 64 * 1024,
  batchBytes: 1024 * 1024,
  agentsPerBatch: 1_000,
  idsPerAck: 100,
  messageBytes: 10_240,
  headerBytes: 16 * 1024,
  connections: 4_096,
  requestsPerSecond: 200,
  requestTimeoutMs: 10_000,
  keepAliveTimeoutMs: 65_000,
  stallTimeoutMs: 30_000,
  streams: 2_048,
  streamsPerToken: 256,
  streamBytes: 64 * 1024,
  heartbeatMs: 15_000,
  closeTimeoutMs: 5_000
})
