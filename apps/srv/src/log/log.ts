/**
 * The log of the daemon: one JSON object per line. What could carry a key is left out by name here, and whatever the
 * known keys are is cut out of the finished line by LogOutput (R16). Addresses are logged without their query.
 */
import { type Logger, pino } from 'pino'
import { LogOutput } from './log-output.js'

export type Log = Logger

export interface LogOptions {
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
  /** stderr unless given. */
  readonly descriptor?: number
  readonly secrets?: readonly string[]
}

export interface DaemonLog {
  readonly log: Log
  /** Resolves once all lines are written, at the latest after a moment. */
  flush(): Promise<void>
}

const STDERR = 2
const FLUSH_BOUND_MS = 1_000

const SECRET_FIELDS = [
  'key',
  'authKey',
  'auth_key',
  'lanKey',
  'token',
  'secret',
  'authorization',
  'environment',
  'env'
]

export function createLog({ level = 'info', descriptor = STDERR, secrets = [] }: LogOptions = {}): DaemonLog {
  const output = new LogOutput({ descriptor, secrets })
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: [...SECRET_FIELDS, ...SECRET_FIELDS.map((field) => `*.${field}`), 'headers', '*.headers'],
        censor: '[redacted]'
      },
      serializers: {
        req: (request: { method?: unknown; url?: unknown; id?: unknown }) => ({
          id: request.id,
          method: request.method,
          path: pathOf(request.url)
        }),
        res: (response: { statusCode?: unknown }) => ({ status: response.statusCode })
      }
    },
    output
  )
  return { log, flush: () => output.flush(FLUSH_BOUND_MS) }
}

/** An address may carry anything behind the question mark. */
export function pathOf(url: unknown): string {
  return typeof url === 'string' ? (url.split('?', 1)[0] ?? '') : ''
}
