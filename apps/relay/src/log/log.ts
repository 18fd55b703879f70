/**
 * The log of the relay: one JSON object per line on stderr, never waited for. What could carry a secret is left out by name;
 * no message, no body and no header is ever given to it (R16). Lines that nobody reads are dropped, and counted.
 */
import { type Logger, pino } from 'pino'

export type Log = Logger

export interface RelayLog {
  readonly log: Log
  readonly dropped: () => number
  /** Writes what waits, in this turn. */
  flush(): void
}

const STDERR = 2
const MAX_WAITING_BYTES = 1024 * 1024
const SECRETS = ['token', 'secret', 'authorization', 'hash', 'key', 'headers', 'body']
const CONTENTS = ['message', 'text']

export function createLog(level: 'debug' | 'info' | 'warn' | 'error' = 'info'): RelayLog {
  let dropped = 0
  const output = pino.destination({ dest: STDERR, sync: false, maxLength: MAX_WAITING_BYTES })
  output.on('drop', () => dropped++)
  // Whoever read it has gone: the relay goes on.
  output.on('error', () => {})
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [...CONTENTS, ...SECRETS, ...SECRETS.map((field) => `*.${field}`)],
        censor: '[redacted]'
      },
      serializers: { req: (request: { id?: unknown }) => ({ id: request.id }) }
    },
    output
  )
  return {
    log,
    dropped: () => dropped,
    flush() {
      try {
        output.flushSync()
      } catch {
        // Not open yet, or no longer.
      }
    }
  }
}
